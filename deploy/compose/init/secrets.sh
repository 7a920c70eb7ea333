#!/bin/bash
# Makes the keys and passwords of the cluster, as files that only the user of each container can read. Files that exist
# are kept, so it may run again at any time. It runs as root in a container without network.
set -euo pipefail
umask 077
dir=${SECRETS:-/secrets}

# password NAME prints the password of a user, and makes it when there is none.
password() {
	local file="$dir/init/$1"
	[ -s "$file" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$file"
	cat "$file"
}

# give UID FILE TEXT writes a file that one user can read. It is complete or not there: who reads it meanwhile sees the
# old one.
give() {
	printf '%s\n' "$3" >"$2.new"
	chmod 0400 "$2.new"
	chown "$1:$1" "$2.new"
	mv -f "$2.new" "$2"
}

# uri USER DATABASE prints the address of the cluster for a user.
uri() { printf 'mongodb://%s:%s@%s/%s?authSource=admin' "$1" "$(password "$1")" "${MONGOS:-mongos1:27017}" "$2"; }

# address UID FILE TEXT writes a file with an address in it. One that is there is changed only when the mongos are named:
# those of a full cluster, to which a small one grew.
address() { [ -s "$2" ] && [ -z "${MONGOS:-}" ] || give "$1" "$2" "$3"; }

[ -s "$dir/mongo/keyfile" ] || give 999 "$dir/mongo/keyfile" "$(od -An -N48 -tx1 /dev/urandom | tr -d ' \n')"
password admin >/dev/null
address 65532 "$dir/shardboard/uri" "$(uri shardboard '')"
address 65532 "$dir/loader/uri" "$(uri loader '')"
# Yorkie makes its indexes within this time limit, also those of collections with data.
address 65534 "$dir/yorkie/yorkie.yml" "Mongo:
  ConnectionTimeout: \"60s\"
  ConnectionURI: \"$(uri yorkie yorkie-meta)\"
  YorkieDatabase: \"yorkie-meta\""
chown 999:999 "$dir"/init/*
# Directories of volumes are root's; others may look for the one name that they were told.
chmod 0711 "$dir/mongo" "$dir/init" "$dir/loader" "$dir/yorkie" "$dir/shardboard"
