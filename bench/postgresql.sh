# Sourced by the scripts here: a PostgreSQL server of its own, with defaults and pg_stat_statements, for the time of the script.
#
# start_postgresql PORT [COMMAND...]: sets postgresql to its URL, and database to a data directory that is removed at the end. COMMAND
#   is in front of the server. A superuser of the machine runs it as the user `postgres`.
# stop_postgresql: ends it.
# sql STATEMENT: runs a statement, and prints its values.

postgresql=''
database=''
server_binaries=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)}

as_owner() {
    if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

start_postgresql() {
    local port=$1
    shift
    database=$(mktemp -d)
    [ "$(id -u)" != 0 ] || chown postgres "$database"
    as_owner "$server_binaries/initdb" -D "$database/data" -U postgres -A trust >"$database.log"
    as_owner "$@" "$server_binaries/pg_ctl" -D "$database/data" -l "$database/log" -w \
        -o "-p $port -k $database -c shared_preload_libraries=pg_stat_statements -c max_connections=200" start >>"$database.log"
    rm "$database.log"
    postgresql=postgresql://postgres@127.0.0.1:$port/postgres
    sql 'CREATE EXTENSION pg_stat_statements'
    sql 'CREATE EXTENSION pageinspect'
}

stop_postgresql() {
    [ -n "$database" ] || return 0
    as_owner "$server_binaries/pg_ctl" -D "$database/data" -m immediate stop >/dev/null || true
    rm -rf "$database"
    database=''
}

sql() { "$server_binaries/psql" -qAtX -v ON_ERROR_STOP=1 -c "$1" "$postgresql"; }
