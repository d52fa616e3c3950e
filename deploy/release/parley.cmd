@echo off
rem Starts Parley with the JDK 21 or newer in JAVA_HOME, or on the PATH. PARLEY_JAVA_OPTIONS: options for the JVM.
setlocal
set java=java
if defined JAVA_HOME set java=%JAVA_HOME%\bin\java
"%java%" -XX:+UseSerialGC -Xss512k --enable-native-access=ALL-UNNAMED %PARLEY_JAVA_OPTIONS% -jar "%~dp0..\app\parley.jar" %*
