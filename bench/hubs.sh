# Sourced by bench/measure: figures of hubs that share a PostgreSQL database.

source bench/postgresql.sh
declare -A hubs=()
postgresql_port=$((port + 9))

# hub_at NAME PORT OPTIONS...: starts a hub on a data directory of that name.
hub_at() {
    local name=$1 at=$2 log=bench/target/hub-$1.log
    shift 2
    ./parley up --port "$at" --data "$data-$name" --agents "$agents" "$@" >"$log" 2>&1 &
    hubs[$name]=$!
    for _ in $(seq 600); do
        kill -0 "${hubs[$name]}" 2>/dev/null || break
        curl -fs -o /dev/null "http://127.0.0.1:$at/ready" && return
        sleep 0.1
    done
    say "hub $name did not start:"
    cat "$log" >&2
    exit 1
}

stop_hubs() {
    local name
    for name in "${!hubs[@]}"; do
        kill "${hubs[$name]}" 2>/dev/null && wait "${hubs[$name]}" 2>/dev/null || true
    done
    hubs=()
    stop_postgresql
}
trap 'stop; stop_hubs' EXIT

# statements SECONDS: those of the hubs in that time, a second.
statements() {
    sql 'SELECT pg_stat_statements_reset()' >/dev/null
    sleep "$1"
    sql "SELECT round((sum(calls) - 1.0) / $1, 2) FROM pg_stat_statements"
}

if wants idle-statements; then
    rm -rf "$data-one"
    start_postgresql "$postgresql_port"
    hub_at one "$port" --cluster --database "$postgresql"
    for run in $(seq "$repeats"); do
        sleep 15 # until what a start leaves to do is done
        value idle-statements "$run" "$(statements 20)"
    done
    stop_hubs
fi
