package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// How to repair a finding (catalogue codes).
const (
	FixNone    = "none"
	FixShard   = "shard"   // shard it; fast while it is small
	FixRefine  = "refine"  // add fields to its key (4.4)
	FixReshard = "reshard" // rewrite it under another key (5.0)
	FixCopy    = "copy"    // before 5.0 there is no command: dump, drop, shard, restore
	FixMerge   = "unshard" // gather it on one shard (8.0)
	FixDrop    = "drop"    // delete unused data
	FixBack    = "back"    // nothing to do: the compared layout is older than the data
)

// Fix is how to repair a finding: mongosh commands for a person to type. Names from the cluster are
// quoted.
type Fix struct {
	Code     string
	Commands []string
	Key      shardkey.Pattern // for FixRefine and FixReshard: the key to have
}

// fixer writes commands for one database and server version.
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

// since reports whether the server has at least that version; an unknown version counts as current.
func (x fixer) since(major, minor int) bool {
	return x.major == 0 || x.major > major || x.major == major && x.minor >= minor
}

func (x fixer) fix(f Finding) Fix {
	ns, coll := sanitize.Quoted(
		string(f.NS),
	), "db.getSiblingDB("+sanitize.Quoted(
		x.db,
	)+").getCollection("+sanitize.Quoted(
		f.NS.Collection(),
	)+")"
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
		return Fix{Code: FixShard, Commands: append(first, shard)}
	case FindUnsharded, FindUnlisted, FindDocumented:
		return Fix{Code: FixShard, Commands: append(first, index, shard)}
	case FindDifferent:
		switch {
		case hasPrefixKey(f.Have, f.Want) && x.since(4, 4):
			return Fix{FixRefine, []string{index, fmt.Sprintf("db.adminCommand({refineCollectionShardKey: %s, key: %s})", ns, f.Want)},
				keyOf(f.Want)}
		case x.since(5, 0):
			return Fix{FixReshard, []string{"sh.reshardCollection(" + ns + ", " + f.Want + ")"}, keyOf(f.Want)}
		}
		return Fix{Code: FixCopy}
	case FindSharded:
		if x.since(8, 0) && x.primary != "" {
			return Fix{Code: FixMerge, Commands: []string{
				fmt.Sprintf("db.adminCommand({unshardCollection: %s, toShard: %s})", ns, sanitize.Quoted(x.primary))}}
		}
	case FindOlder:
		return Fix{Code: FixDrop, Commands: []string{coll + ".estimatedDocumentCount()", coll + ".drop()"}}
	}
	return Fix{Code: FixNone}
}

// keyOf reads a shard key as profiles have it, which is YAML.
func keyOf(text string) (p shardkey.Pattern) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return p
	}
	for pair := range slices.Chunk(doc.Content[0].Content, 2) {
		p = p.With(shardkey.Field{Name: pair[0].Value, Hashed: pair[1].Value == "hashed"})
	}
	return p
}

// hasPrefixKey reports whether want is have with more fields at the end.
func hasPrefixKey(have, want string) bool {
	return strings.HasPrefix(want, strings.TrimSuffix(have, "}")+", ")
}
