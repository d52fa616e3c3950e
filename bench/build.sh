# Sourced by the scripts here, from the root of the repository: builds the program and the bench module without analysis, and
# sets JAVA_HOME and bench_classpath. BUILT=1 leaves out the build.
[ -n "${BUILT:-}" ] || ./parley build
JAVA_HOME=$(./parley jdk)
export JAVA_HOME
[ -n "${BUILT:-}" ] || mvn -B -q -Pquick -DskipTests -Dspotless.check.skip -pl bench -am package >bench/target/build.log 2>&1 || {
    grep -E '^\[ERROR\]' bench/target/build.log | head -20 >&2
    exit 1
}
bench_classpath=bench/target/quick/classes:$(cat bench/target/quick/classpath)
