package profile

import (
	"fmt"
	"strconv"
	"strings"

	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// How a finding is put right (catalogue codes).
const (
	FixNone    = "none"
	FixShard   = "shard"   // shard it; fast while it is small
	FixRefine  = "refine"  // add fields to its key (4.4)
	FixReshard = "reshard" // rewrite it under another key (5.0)
	FixCopy    = "copy"    // before 5.0 no command can: dump, drop, shard, restore
	FixMerge   = "unshard" // gather it on one shard (8.0)
	FixDrop    = "drop"    // delete what nothing reads any more
	FixBack    = "back"    // nothing: the layout compared with is older than what is here
)

// Fix is what to do about a finding: commands for mongosh, to be typed by a
// person. Names from the cluster are quoted in them.
type Fix struct {
	Code     string
	Commands []string
}

// fixer writes commands for one database of one server version.
type fixer struct {
	db, primary  string
	major, minor int
	enable       bool // sharding may have to be enabled first
}

func commandsFor(t *topology.Table, db string, a Actual) fixer {
	x := fixer{db: db, primary: t.Primary(db), enable: len(a.Keys) == 0}
	parts := strings.SplitN(t.ServerInfo.Version, ".", 3)
	if len(parts) >= 2 {
		x.major, _ = strconv.Atoi(parts[0])
		x.minor, _ = strconv.Atoi(parts[1])
	}
	return x
}

// since tells whether the server is at least that version; one that is not
// known is taken for a current one.
func (x fixer) since(major, minor int) bool {
	return x.major == 0 || x.major > major || x.major == major && x.minor >= minor
}

func (x fixer) fix(f Finding) Fix {
	ns, coll := sanitize.Quoted(string(f.NS)), "db.getSiblingDB("+sanitize.Quoted(x.db)+").getCollection("+sanitize.Quoted(f.NS.Collection())+")"
	index := coll + ".createIndex(" + f.Want + ")"
	shard := "sh.shardCollection(" + ns + ", " + f.Want + ")"
	var first []string
	if x.enable && !x.since(6, 0) { // from 6.0 on every database may have sharded collections
		first = []string{"sh.enableSharding(" + sanitize.Quoted(x.db) + ")"}
	}
	switch f.Code {
	case FindMissing:
		if f.Want == "" {
			return Fix{Code: FixNone}
		}
		return Fix{FixShard, append(first, shard)}
	case FindUnsharded, FindUnlisted, FindDocumented:
		return Fix{FixShard, append(first, index, shard)}
	case FindDifferent:
		switch {
		case extends(f.Have, f.Want) && x.since(4, 4):
			return Fix{FixRefine, []string{index, fmt.Sprintf("db.adminCommand({refineCollectionShardKey: %s, key: %s})", ns, f.Want)}}
		case x.since(5, 0):
			return Fix{FixReshard, []string{"sh.reshardCollection(" + ns + ", " + f.Want + ")"}}
		}
		return Fix{Code: FixCopy}
	case FindSharded:
		if x.since(8, 0) && x.primary != "" {
			return Fix{FixMerge, []string{fmt.Sprintf("db.adminCommand({unshardCollection: %s, toShard: %s})", ns, sanitize.Quoted(x.primary))}}
		}
	case FindOlder:
		return Fix{FixDrop, []string{coll + ".estimatedDocumentCount()", coll + ".drop()"}}
	}
	return Fix{Code: FixNone}
}

// extends tells whether want is have with further fields at its end.
func extends(have, want string) bool {
	return strings.HasPrefix(want, strings.TrimSuffix(have, "}")+", ")
}
