# Sourced by the scripts here, from the root of the repository: builds the program and the bench module, and sets
# JAVA_HOME and bench_classpath.
./parley build
JAVA_HOME=$(./parley jdk)
export JAVA_HOME
mvn -B -q -DskipTests -Dspotless.check.skip -pl bench -am package >bench/target/build.log 2>&1 || {
    grep -E '^\[ERROR\]' bench/target/build.log | head -20 >&2
    exit 1
}
bench_classpath=bench/target/classes:$(cat bench/target/classpath)
