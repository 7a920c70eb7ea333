package operation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Op names an operation: a row of the table of operations.
type Op string

// The ops. Each sends exactly one command, except OpAwait and OpItem, which send none.
const (
	OpSplitAt        Op = "splitAt"
	OpSplitMedian    Op = "splitMedian"
	OpMerge          Op = "merge"
	OpMove           Op = "move"      // MoveChunk
	OpMoveRange      Op = "moveRange" // 6.0 and later
	OpClearJumbo     Op = "clearJumbo"
	OpRefineKey      Op = "refineKey" // 4.4 and later; sets Key
	OpAddZone        Op = "addShardToZone"
	OpRemoveZone     Op = "removeShardFromZone"
	OpSetRange       Op = "setZoneRange"
	OpRemoveRange    Op = "removeZoneRange"
	OpBalancerOn     Op = "startBalancer"
	OpBalancerOff    Op = "stopBalancer"
	OpBalancerWindow Op = "setBalancerWindow"
	OpBalancing      Op = "setBalancing"
	OpBeginRemoval   Op = "beginRemoval"       // of a shard, with the first removeShard
	OpStartDraining  Op = "startShardDraining" // 8.3 and later
	OpStopDraining   Op = "stopShardDraining"  // 8.3 and later
	OpRemoveShard    Op = "removeShard"
	OpBeginDedicated Op = "beginDedicated" // of a config server that is a shard (8.0): drains it
	OpDedicate       Op = "dedicate"       // likewise: when it is drained
	OpMigrations     Op = "setMigrations"
	OpChunkSize      Op = "setChunkSize"
	OpAutoMerge      Op = "setAutoMerge"
	OpDefragment     Op = "defragment"
	OpReshard        Op = "reshardCollection" // 5.0 and later, as the next two
	OpReshardCommit  Op = "commitReshardCollection"
	OpReshardAbort   Op = "abortReshardCollection"
	OpMovePrimary    Op = "movePrimary"
	OpMoveCollection Op = "moveCollection" // 8.0 and later, as the next three
	OpUnshard        Op = "unshardCollection"
	OpAbortMove      Op = "abortMoveCollection"
	OpAbortUnshard   Op = "abortUnshardCollection"
	OpAwait          Op = "await" // waits until the proof holds, and shows progress
	OpItem           Op = "item"  // of a batch: runs an item as a run of its own; sends no command itself
)

// operations has the rows of the table by operation. It is filled once, because rows refer to what looks at rows.
var operations map[Op]*operation

func init() {
	operations = map[Op]*operation{}
	for _, row := range table() {
		operations[row.op] = &row
	}
}

// table has all operations. A new server command is a row here; docs/roles.md has what its privileges are used for.
func table() []operation {
	return []operation{
		{op: OpBalancerOn, does: "start the balancer", command: onAdmin("balancerStart", one, nil),
			grants: grants("config.settings", "update"), feature: "balancerSwitch",
			locks: lockNamed(func(Step) string { return "balancer" }), inverse: OpBalancerOff,
			steers: func(_ Step, b *topology.Balancer, _ *topology.Collection) { b.Mode, b.Stopped = "full", false },
			title:  either(restores, "Turn the balancer on again", "Turn the balancer on")},
		{op: OpBalancerOff, does: "stop the balancer", command: onAdmin("balancerStop", one, nil),
			grants: grants("config.settings", "update"), feature: "balancerSwitch", limit: balancerOffTimeout, Effects: Effects{Lingers: true},
			locks: lockNamed(func(Step) string { return "balancer" }), inverse: OpBalancerOn,
			title: either(pauses, "Pause the balancer", "Turn the balancer off")},
		{op: OpBalancerWindow, does: "set the balancing window", command: windowCommand,
			grants: grants("config.settings", "update", "insert"), feature: "balancerWindow",
			locks: lockNamed(func(Step) string { return "balancer" }), final: windowUnknown,
			steers: func(_ Step, b *topology.Balancer, _ *topology.Collection) { mendWindows(b) },
			title: func(s Step) string {
				switch {
				case s.Days != "":
					return "Let the balancer run on {days}"
				case s.Start == "":
					return "Let the balancer run at any time"
				}
				return "Let the balancer run from {start} to {stop}"
			}},

		{op: OpAddZone, does: "add the shard to the zone",
			command: onAdmin("addShardToZone", aboutShard, func(s Step) bson.D { return bson.D{{Key: "zone", Value: s.Zone}} }),
			grants:  grants("config.shards", "update"), feature: "zoneShards",
			Effects: Effects{ChangesZones: true, FillsZone: true}, locks: lockNamed(func(s Step) string { return "zone " + s.Zone }),
			inverse: OpRemoveZone,
			title:   titled("Add {shard} to the zone {zone}"), several: titled("Add {n} shards to the zone {zone}"),
			counts: func(l *LastingChanges) *int { return &l.ZonesJoined }},
		{op: OpRemoveZone, does: "remove the shard from the zone",
			command: onAdmin("removeShardFromZone", aboutShard, func(s Step) bson.D { return bson.D{{Key: "zone", Value: s.Zone}} }),
			grants: func(balance.Release) []Grant {
				return []Grant{{[]string{"update"}, "config.shards"}, {[]string{"find"}, "config.tags"}}
			}, feature: "zoneShards",
			Effects: Effects{ChangesZones: true}, locks: lockNamed(func(s Step) string { return "zone " + s.Zone }),
			inverse: OpAddZone,
			title:   titled("Remove {shard} from the zone {zone}"), several: titled("Remove {n} shards from the zone {zone}"),
			counts: func(l *LastingChanges) *int { return &l.ZonesLeft }},

		{op: OpBeginRemoval, does: "drain the shard", command: onAdmin("removeShard", aboutShard, nil), reads: readBegunRemoval,
			grants: grants(OnCluster, "removeShard"), feature: "shardRemoval",
			Effects: Effects{Drains: true, ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			final: forGood,
			title: titled("Begin to drain {shard}"), counts: func(l *LastingChanges) *int { return &l.DrainsBegun }},
		{op: OpStartDraining, does: "drain the shard", command: onAdmin("startShardDraining", aboutShard, nil),
			grants: grants(OnCluster, "removeShard"), feature: "shardRemoval",
			Effects: Effects{Drains: true, ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			inverse: OpStopDraining,
			title:   titled("Begin to drain {shard}"), counts: func(l *LastingChanges) *int { return &l.DrainsBegun }},
		{op: OpStopDraining, does: "end the draining of the shard", command: onAdmin("stopShardDraining", aboutShard, nil),
			grants: grants(OnCluster, "removeShard"), feature: "shardRemoval",
			Effects: Effects{ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			inverse: OpStartDraining,
			title:   titled("End the draining of {shard}"), counts: func(l *LastingChanges) *int { return &l.DrainsEnded }},
		{op: OpRemoveShard, does: "remove the shard", command: removalCommand, reads: readRemoval,
			grants: grants(OnCluster, "removeShard"), feature: "shardRemoval",
			Effects: Effects{ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			final: forGood,
			title: titled("Remove {shard} from the cluster"), counts: func(l *LastingChanges) *int { return &l.ShardsRemoved }},
		{op: OpBeginDedicated, does: "drain the config server", command: onAdmin(dedicating, one, nil), reads: readBegunRemoval,
			grants: grants(OnCluster, dedicating), feature: "configShard", since: balance.Release{8, 0, 0},
			Effects: Effects{Drains: true, ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			final: forGood,
			title: titled("Begin to drain {shard}"), counts: func(l *LastingChanges) *int { return &l.DrainsBegun }},
		{op: OpDedicate, does: "make the config server a dedicated one", command: onAdmin(dedicating, one, nil), reads: readRemoval,
			grants: grants(OnCluster, dedicating), feature: "configShard", since: balance.Release{8, 0, 0},
			Effects: Effects{ChangesDraining: true}, locks: lockNamed(func(s Step) string { return "draining of " + s.Shard }),
			final: forGood,
			title: titled("Make the config server a dedicated one"), counts: func(l *LastingChanges) *int { return &l.ShardsRemoved }},

		{op: OpSetRange, does: "set the zone range", command: onAdmin("updateZoneKeyRange", aboutNS, func(s Step) bson.D {
			return bson.D{{Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "zone", Value: s.Zone}}
		}),
			grants: zoneGrants, feature: "zoneRanges",
			Effects: Effects{ChangesZones: true, ChangesZoneRange: true, FillsZone: true, LeavesChunks: true},
			inverse: OpRemoveRange,
			title:   titled("Assign {min} → {max} of {ns} to the zone {zone}"),
			several: titled("Assign {n} ranges of {in} to the zone {zone}"),
			counts:  func(l *LastingChanges) *int { return &l.RangesSet }},
		{op: OpRemoveRange, does: "remove the zone range", command: onAdmin("updateZoneKeyRange", aboutNS, func(s Step) bson.D {
			return bson.D{{Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "zone", Value: nil}}
		}),
			grants: zoneGrants, feature: "zoneRanges",
			Effects: Effects{ChangesZones: true, ChangesZoneRange: true, LeavesChunks: true},
			inverse: OpSetRange,
			title:   titled("Remove {min} → {max} of {ns} from its zone"),
			several: titled("Remove {n} ranges of {in} from their zones"),
			counts:  func(l *LastingChanges) *int { return &l.RangesRemoved }},

		{op: OpSplitAt, does: "split the chunk",
			command: onAdmin("split", aboutNS, func(s Step) bson.D { return bson.D{{Key: "middle", Value: s.At}} }),
			grants:  grants("", "splitChunk"), feature: "split", Effects: Effects{Splits: true, LeavesPlacement: true},
			inverse: OpMerge,
			title:   titled("Split {ns} at {at}"), several: titled("Split chunks at {n} points in {in}"),
			counts: func(l *LastingChanges) *int { return &l.Splits }},
		{op: OpSplitMedian, does: "split the chunk", command: onAdmin("split", aboutNS, bounds), // the server does not say where it splits
			grants: grants("", "splitChunk"), feature: "split", Effects: Effects{Splits: true, LeavesPlacement: true},
			inverse: OpMerge,
			title:   titled("Split {min} → {max} of {ns} in the middle"), several: titled("Split chunks at {n} points in {in}"),
			counts: func(l *LastingChanges) *int { return &l.Splits }},
		{op: OpMerge, does: "merge the chunks", command: onAdmin("mergeChunks", aboutNS, bounds),
			grants: grants("", "splitChunk"), feature: "merge", Effects: Effects{Merges: true, LeavesPlacement: true},
			inverse: OpSplitAt,
			title:   titled("Merge {min} → {max} of {ns}"), several: titled("Merge neighbouring chunks into {n} in {in}"),
			counts: func(l *LastingChanges) *int { return &l.Merges }},
		{op: OpMove, does: "move the chunk", command: onAdmin("moveChunk", aboutNS, func(s Step) bson.D {
			return append(append(bounds(s), bson.E{Key: "to", Value: s.Shard}), moveOptions(s, "_waitForDelete")...)
		}),
			grants: grants("", "moveChunk"), feature: "move", Effects: Effects{MovesRange: true}, limit: MigrationTimeout,
			title: titled("Move {min} → {max} of {ns} to {shard}"), several: titled("Move {n} ranges of {in} to {shard}"),
			counts: func(l *LastingChanges) *int { return &l.Moves }},
		{op: OpMoveRange, does: "move the range", command: onAdmin("moveRange", aboutNS, func(s Step) bson.D {
			cmd := bson.D{{Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "toShard", Value: s.Shard}}
			return append(cmd, moveOptions(s, "waitForDelete")...)
		}),
			grants: grants("", "moveChunk"), feature: "move", Effects: Effects{MovesRange: true}, limit: MigrationTimeout,
			title: titled("Move {min} → {max} of {ns} to {shard}"), several: titled("Move {n} ranges of {in} to {shard}"),
			counts: func(l *LastingChanges) *int { return &l.Moves }},
		{op: OpClearJumbo, does: "clear the jumbo flag", command: onAdmin("clearJumboFlag", aboutNS, bounds),
			grants: grants("", "clearJumboFlag"), feature: "jumbo", Effects: Effects{LeavesPlacement: true}, final: forGood,
			title:   titled("Clear the jumbo flag of {min} → {max} of {ns}"),
			several: titled("Clear the jumbo flag of {n} chunks of {in}")},
		{op: OpRefineKey, does: "refine the shard key", command: onAdmin("refineCollectionShardKey", aboutNS, func(s Step) bson.D {
			return bson.D{{Key: "key", Value: s.Key}}
		}),
			grants: grants("", "refineCollectionShardKey"), feature: "refine", limit: refineTimeout, locks: lockCollection, final: forGood,
			title:   titled("Refine the shard key of {ns} to {key}"),
			Effects: Effects{Refines: true}},

		{op: OpMigrations, does: "allow or forbid migrations", command: onAdmin("setAllowMigrations", aboutNS, func(s Step) bson.D {
			return bson.D{{Key: "allowMigrations", Value: s.On}}
		}),
			grants: grants("", "moveChunk"), feature: "migrations", Effects: Effects{SetsCollection: true, LeavesChunks: true},
			locks:   lockSetting("permission of moves"),
			setting: "migrations", sets: func(s Step) (string, string) { return "migrationsBlocked", strconv.FormatBool(!s.On) },
			steers: func(s Step, _ *topology.Balancer, c *topology.Collection) { c.MigrationsBlocked = !s.On },
			title:  either(on, "Allow moves of {ns}", "Block all moves of {ns}")},
		{op: OpBalancing, does: "switch balancing of the collection", command: balancingCommand, reads: readBalancing,
			grants: func(r balance.Release) []Grant {
				if hasBalancingCommand(r) {
					return grants("", "splitChunk", "moveChunk")(r)
				}
				return grants("config.collections", "update")(r)
			}, feature: "collectionBalancing",
			Effects: Effects{LeavesChunks: true}, locks: lockSetting("balancing"),
			setting: "balancing", sets: func(s Step) (string, string) { return "noBalance", strconv.FormatBool(!s.On) },
			steers:  func(s Step, _ *topology.Balancer, c *topology.Collection) { c.NoBalance = !s.On },
			title:   func(s Step) string { return balancingPattern(s) + "{ns}" },
			several: func(s Step) string { return balancingPattern(s) + "{in}" }},
		{op: OpChunkSize, does: "set the chunk size", command: configures("chunkSize", func(s Step) any { return int32(s.Size) }),
			grants: grants("", "splitChunk", "moveChunk"), Effects: Effects{SetsCollection: true, LeavesChunks: true},
			locks: lockSetting("chunk size"), setting: "chunkSize",
			final:  func(s Step) bool { _, known := s.PreviousChunkSize(); return !known },
			sets:   func(s Step) (string, string) { return "chunkSize", chunkSizeText(int64(s.Size) << 20) },
			steers: func(s Step, _ *topology.Balancer, c *topology.Collection) { c.MaxChunkBytes = int64(s.Size) << 20 },
			title: either(func(s Step) bool { return s.Size == 0 },
				"Use the cluster’s chunk size for {ns}", "Set the chunk size of {ns} to {size}")},
		{op: OpAutoMerge, does: "switch automatic merging of the collection", command: configures("enableAutoMerger", asOn),
			grants: grants("", "splitChunk", "moveChunk"), locks: lockSetting("auto-merger"),
			Effects: Effects{SetsCollection: true, LeavesChunks: true, LeavesPlacement: true},
			setting: "autoMerge",
			sets:    func(s Step) (string, string) { return "autoMerge", strconv.FormatBool(s.On) },
			title:   either(on, "Turn on automatic merging of {ns}", "Turn off automatic merging of {ns}")},
		{op: OpDefragment, does: "switch defragmentation of the collection", command: configures("defragmentCollection", asOn),
			unbounded: true,
			grants:    grants("", "splitChunk", "moveChunk"), locks: lockSetting("defragmentation"),
			Effects: Effects{SetsCollection: true, LeavesChunks: true, EndsByItself: true},
			setting: "defragment",
			sets: func(s Step) (string, string) {
				if s.On {
					return "defragmenting", "true"
				}
				return "defragmentationEnds", "true" // the server ends it with its last phase, which takes a while
			},
			title: either(on, "Start to defragment {ns}", "Stop defragmenting {ns}")},

		{op: OpReshard, does: "reshard the collection", command: reshardCommand,
			grants: grants("", "reshardCollection"), feature: "reshard", since: balance.Release{5, 0, 0}, limit: reshardTimeout,
			Effects: Effects{InBackground: true}, locks: lockCollection,
			final: Step.Redistributes,
			title: either(Step.Redistributes, "Distribute {ns} anew with its key {key}", "Reshard {ns} to {key}")},
		{op: OpReshardCommit, does: "commit the resharding", command: onAdmin("commitReshardCollection", aboutNS, nil),
			grants: grants("", "reshardCollection"), feature: "reshard", since: balance.Release{5, 0, 0}, limit: MigrationTimeout,
			Effects: Effects{InBackground: true, EndsAnother: true}, locks: lockOfResharding, final: forGood,
			title: titled("Commit the resharding of {ns}")},
		{op: OpReshardAbort, does: "abort the resharding", command: onAdmin("abortReshardCollection", aboutNS, nil),
			grants: grants("", "reshardCollection"), feature: "reshard", since: balance.Release{5, 0, 0}, limit: MigrationTimeout,
			Effects: Effects{InBackground: true, EndsAnother: true, Aborts: true}, locks: lockOfResharding, final: forGood,
			title: titled("Abort the resharding of {ns}")},
		{op: OpMovePrimary, does: "move the primary of the database", command: onAdmin("movePrimary", func(s Step) any { return s.DB },
			func(s Step) bson.D { return bson.D{{Key: "to", Value: s.Shard}} }),
			grants: grants("", "moveChunk"), limit: MigrationTimeout, Effects: Effects{MovesWhole: true},
			locks: lockNamed(func(s Step) string { return "database " + s.DB }),
			title: titled("Make {shard} the primary shard of {db}"), counts: func(l *LastingChanges) *int { return &l.WholeMoves },
			running: []string{"movePrimary", "_shardsvrMovePrimary", "_configsvrMovePrimary", "_movePrimary"}},
		{op: OpMoveCollection, does: "move the collection", command: onAdmin("moveCollection", aboutNS, func(s Step) bson.D {
			return bson.D{{Key: "toShard", Value: s.Shard}}
		}),
			grants: grants("", "moveCollection"), feature: "moveCollection", since: balance.Release{8, 0, 0}, limit: reshardTimeout,
			Effects: Effects{MovesWhole: true, InBackground: true}, locks: lockWholeMove,
			title: titled("Move {ns} to {shard}"), counts: func(l *LastingChanges) *int { return &l.WholeMoves },
			running: []string{"moveCollection", "_shardsvrReshardCollection", "_configsvrReshardCollection"}},
		{op: OpAbortMove, does: "abort the move of the collection", command: onAdmin("abortMoveCollection", aboutNS, nil),
			grants: grants("", "moveCollection"), feature: "moveCollection", since: balance.Release{8, 0, 0}, limit: MigrationTimeout,
			Effects: Effects{InBackground: true, EndsAnother: true, Aborts: true}, locks: lockOfResharding, final: forGood,
			title: titled("Abort the move of {ns}")},
		{op: OpUnshard, does: "unshard the collection", command: onAdmin("unshardCollection", aboutNS, func(s Step) bson.D {
			if s.Shard == "" {
				return nil
			}
			return bson.D{{Key: "toShard", Value: s.Shard}}
		}),
			grants: grants("", "unshardCollection"), feature: "unshard", since: balance.Release{8, 0, 0}, limit: reshardTimeout,
			Effects: Effects{MovesWhole: true, InBackground: true}, locks: lockWholeMove, final: forGood,
			title: either(func(s Step) bool { return s.Shard == "" },
				"Unshard {ns}, on the shard that the server chooses", "Unshard {ns}, on {shard}"),
			counts:  func(l *LastingChanges) *int { return &l.WholeMoves },
			running: []string{"unshardCollection", "_shardsvrReshardCollection", "_configsvrReshardCollection"}},
		{op: OpAbortUnshard, does: "abort the unsharding of the collection", command: onAdmin("abortUnshardCollection", aboutNS, nil),
			grants: grants("", "unshardCollection"), feature: "unshard", since: balance.Release{8, 0, 0}, limit: MigrationTimeout,
			Effects: Effects{InBackground: true, EndsAnother: true, Aborts: true}, locks: lockOfResharding, final: forGood,
			title: titled("Abort the unsharding of {ns}")},

		{op: OpAwait,
			title: either(Step.AwaitsDrain, "Wait until nothing is left on {shard}; sends no command",
				"Wait for the balancer to move the chunks of {ns}; sends no command"),
			several: titled("Wait for the balancer to move the chunks of {in}; sends no command")},
		{op: OpItem, several: func(s Step) string { return "Run {n} changes of the kind " + string(s.Item.Kind) }},
	}
}

func titled(text string) func(Step) string { return func(Step) string { return text } }

func either(is func(Step) bool, yes, no string) func(Step) string {
	return func(s Step) string {
		if is(s) {
			return yes
		}
		return no
	}
}

func on(s Step) bool { return s.On }

func pauses(s Step) bool { return s.Pauses }

func restores(s Step) bool { return s.Restores }

func forGood(Step) bool { return true }

func balancingPattern(s Step) string {
	switch {
	case s.Pauses:
		return "Pause balancing of "
	case s.Restores:
		return "Resume balancing of "
	case s.On:
		return "Turn on balancing of "
	}
	return "Turn off balancing of "
}

func grants(on string, actions ...string) func(balance.Release) []Grant {
	return func(balance.Release) []Grant { return []Grant{{actions, on}} }
}

func zoneGrants(balance.Release) []Grant {
	return []Grant{{[]string{"find"}, "config.shards"}, {[]string{"find", "update", "remove"}, "config.tags"}}
}

func lockNamed(name func(Step) string) func(Step) []Lock {
	return func(s Step) []Lock { return []Lock{{Thing: name(s)}} }
}

func lockSetting(setting string) func(Step) []Lock {
	return func(s Step) []Lock { return []Lock{{NS: s.NS, Thing: setting}} }
}

func lockCollection(s Step) []Lock { return []Lock{{NS: s.NS}} }

func lockOfResharding(s Step) []Lock { return []Lock{{Thing: "resharding of " + string(s.NS)}} }

// lockWholeMove: not while the primary of its database moves, and only one of these at a time.
func lockWholeMove(s Step) []Lock {
	return []Lock{{NS: s.NS}, {Thing: "database " + s.NS.Database()}, {Thing: "resharding"}}
}

// windowUnknown: the window that a step replaces is not among its preconditions.
func windowUnknown(s Step) bool {
	for _, f := range s.Needs {
		if _, known := f.Want["windowStart"]; known && f.Kind == FactBalancer {
			return false
		}
	}
	return true
}

const (
	adminDB  = "admin"
	configDB = "config"
)

func encodeCommand(db string, cmd bson.D) (Command, error) {
	doc, err := bson.Marshal(cmd)
	if err != nil {
		return Command{}, fmt.Errorf("encode command: %w", err)
	}
	return Command{DB: db, Doc: doc}, nil
}

// onAdmin is a command on the admin database: its name, whose value is what it is about, and its options.
func onAdmin(name string, about func(Step) any, options func(Step) bson.D) func(Step, balance.Release) (Command, error) {
	return func(s Step, _ balance.Release) (Command, error) {
		cmd := bson.D{{Key: name, Value: about(s)}}
		if options != nil {
			cmd = append(cmd, options(s)...)
		}
		return encodeCommand(adminDB, cmd)
	}
}

func one(Step) any { return int32(1) }

func aboutNS(s Step) any { return s.NS }

func aboutShard(s Step) any { return s.Shard }

func asOn(s Step) any { return s.On }

func bounds(s Step) bson.D { return bson.D{{Key: "bounds", Value: bson.A{s.Min, s.Max}}} }

func moveOptions(s Step, wait string) (out bson.D) {
	if s.Force {
		out = append(out, bson.E{Key: "forceJumbo", Value: true})
	}
	if s.Wait {
		out = append(out, bson.E{Key: wait, Value: true})
	}
	return out
}

// configures is a configureCollectionBalancing that sets one option; the server leaves those alone that are not given.
func configures(option string, value func(Step) any) func(Step, balance.Release) (Command, error) {
	return onAdmin("configureCollectionBalancing", aboutNS, func(s Step) bson.D { return bson.D{{Key: option, Value: value(s)}} })
}

// updateCommand updates one document of a config collection. It is a plain command, so the driver does not retry it.
func updateCommand(coll, id string, change bson.D, upsert bool) (Command, error) {
	one := bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: change}, {Key: "upsert", Value: upsert}}
	return encodeCommand(configDB, bson.D{
		{Key: "update", Value: coll},
		{Key: "updates", Value: bson.A{one}},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}},
	})
}

// windowCommand sets the times of day between which the balancer may run, by the config server's clock, and from 8.3 on
// the windows by day, as topology.ParseDays reads them; what is empty is removed. There is no command for that; the
// MongoDB manual documents this write to config.settings.
func windowCommand(s Step, r balance.Release) (Command, error) {
	var set, unset bson.D
	if s.Start != "" || s.Stop != "" {
		for _, at := range []string{s.Start, s.Stop} {
			if _, err := time.Parse("15:04", at); err != nil || len(at) != len("15:04") {
				return Command{}, fault.New(fault.Invalid, "%s is not a time of day from 00:00 to 23:59.", quotedShort(at))
			}
		}
		if s.Start == s.Stop {
			return Command{}, fault.New(fault.Invalid, "The balancing window must begin and end at different times.")
		}
		set = append(set, bson.E{Key: "activeWindow", Value: bson.D{{Key: "start", Value: s.Start}, {Key: "stop", Value: s.Stop}}})
	} else {
		unset = append(unset, bson.E{Key: "activeWindow", Value: true})
	}
	byDay := r.AtLeast(8, 3, 0)
	switch list, ok := topology.ParseDays(s.Days); {
	case s.Days == "" && byDay:
		unset = append(unset, bson.E{Key: "activeWindowDOW", Value: true})
	case s.Days == "":
	case !byDay:
		return Command{}, fault.New(fault.Invalid, "Windows by day exist since MongoDB 8.3.")
	case !ok:
		return Command{}, fault.New(fault.Invalid, "%s are no windows by day.", quotedShort(s.Days))
	default:
		rows := bson.A{}
		for _, w := range list {
			rows = append(rows, bson.D{{Key: "day", Value: w.Day.String()}, {Key: "start", Value: w.Start}, {Key: "stop", Value: w.Stop}})
		}
		set = append(set, bson.E{Key: "activeWindowDOW", Value: rows})
	}
	var change bson.D
	for _, part := range []bson.E{{Key: "$set", Value: set}, {Key: "$unset", Value: unset}} {
		if len(part.Value.(bson.D)) > 0 {
			change = append(change, part)
		}
	}
	return updateCommand("settings", "balancer", change, true)
}

// hasBalancingCommand reports whether a command switches balancing of one collection. Before, mongosh writes the flag
// noBalance, and so do we.
func hasBalancingCommand(r balance.Release) bool { return r.AtLeast(8, 0, 10) }

func balancingCommand(s Step, r balance.Release) (Command, error) {
	if hasBalancingCommand(r) {
		return configures("enableBalancing", asOn)(s, r)
	}
	return updateCommand("collections", string(s.NS), bson.D{{Key: "$set", Value: bson.D{{Key: "noBalance", Value: !s.On}}}}, false)
}

// readBalancing: an update matches nothing if the collection is not sharded.
func readBalancing(s Step, c Command, reply bson.Raw) error {
	if matched, _ := topology.Amount(reply.Lookup("n")); c.DB == configDB && matched == 0 {
		return fault.New(fault.NotFound, "Collection %s is not sharded.", s.NS)
	}
	return nil
}

func reshardCommand(s Step, r balance.Release) (Command, error) {
	if s.Reshard == nil {
		return Command{}, fmt.Errorf("command of a step: a resharding of %s without a key", s.NS)
	}
	cmd := bson.D{{Key: "reshardCollection", Value: s.NS}, {Key: "key", Value: s.Reshard.Key}}
	if s.Reshard.Zones != nil {
		zones := bson.A{}
		for _, z := range s.Reshard.Zones {
			zones = append(zones, bson.D{{Key: "min", Value: z.Min}, {Key: "max", Value: z.Max}, {Key: "zone", Value: z.Zone}})
		}
		cmd = append(cmd, bson.E{Key: "zones", Value: zones})
	}
	if s.Reshard.Chunks > 0 {
		cmd = append(cmd, bson.E{Key: "numInitialChunks", Value: int64(s.Reshard.Chunks)})
	}
	if s.Redistributes() { // before 8.0, the server would do nothing
		if !r.AtLeast(8, 0, 0) {
			return Command{}, fault.New(fault.Invalid, "Resharding with the same key needs MongoDB 8.0 or later.")
		}
		cmd = append(cmd, bson.E{Key: "forceRedistribution", Value: true})
	}
	return encodeCommand(adminDB, cmd)
}

// dedicating does to a config server that is a shard what removeShard, which refuses it, does to others.
const dedicating = "transitionToDedicatedConfigServer"

// HasDrainCommands reports whether a release has startShardDraining, stopShardDraining and commitShardRemoval.
func HasDrainCommands(r balance.Release) bool { return r.AtLeast(8, 3, 0) }

func removalCommand(s Step, r balance.Release) (Command, error) {
	name := "removeShard"
	if HasDrainCommands(r) {
		name = "commitShardRemoval"
	}
	return encodeCommand(adminDB, bson.D{{Key: name, Value: s.Shard}})
}

// The states that removeShard answers.
const (
	removalStarted   = "started"
	removalOngoing   = "ongoing"
	removalCompleted = "completed"

	// Of a config server alone: it is empty, but documents of chunks that left are not deleted yet.
	removalCleans    = "pendingDataCleanup"
	removalCleansOld = "pendingRangeDeletions" // in 7.0 and early 8.0
)

func readBegunRemoval(s Step, _ Command, reply bson.Raw) error {
	switch state, _ := reply.Lookup("state").StringValueOK(); state {
	case removalStarted:
		return nil
	case removalCompleted:
		return fault.New(fault.Conflict, "The shard was removed: somebody else began to drain %s a moment before, and it was empty.",
			quotedShort(s.Shard))
	case removalOngoing, removalCleans, removalCleansOld:
		return fault.New(fault.Conflict, "Nothing was changed: somebody else began to drain %s a moment before.", quotedShort(s.Shard))
	default:
		return oddRemoval(state)
	}
}

// readRemoval: the last removeShard answers "completed"; any other answer means that the shard is still there.
func readRemoval(_ Step, c Command, reply bson.Raw) error {
	if c.Doc.Lookup("commitShardRemoval").Type != 0 {
		return nil // a command of its own
	}
	switch state, _ := reply.Lookup("state").StringValueOK(); state {
	case removalCompleted:
		return nil
	case removalStarted:
		return fault.New(fault.Conflict, "The shard was not removed: it was not draining, and this command has begun to drain it.")
	case removalOngoing:
		left := func(name string) any {
			if n, ok := topology.Amount(reply.Lookup("remaining", name)); ok {
				return n
			}
			return "an unknown number of"
		}
		return fault.New(fault.Conflict, "The shard was not removed, because something is left on it: %v chunks (%v jumbo), %v databases.",
			left("chunks"), left("jumboChunks"), left("dbs"))
	case removalCleans, removalCleansOld:
		if n, ok := topology.Amount(reply.Lookup("pendingRangeDeletions")); ok && n > 0 {
			return fault.New(fault.Conflict, "The config server is still a shard, because the old documents of %d ranges that left it are "+
				"not deleted yet. Servers wait 15 minutes with that by default. Plan it again then.", n)
		}
		return fault.New(fault.Conflict, "The config server is still a shard, because documents are left on it. The server names %s.",
			quotedShort(reply.Lookup("firstNonEmptyCollection").String()))
	default:
		return oddRemoval(state)
	}
}

// oddRemoval is the error for an answer that is not understood; what the command did has
// to be read.
func oddRemoval(state string) error {
	return fault.New(fault.UnknownOutcome, "The cluster answered the removal with the state %s, which is not understood.", quotedShort(state))
}

// quotedShort quotes text that a server or a person wrote.
func quotedShort(s string) string {
	const limit = 100
	return strconv.Quote(sanitize.Truncate(s, limit))
}

// mendWindows takes away what stops a balancer whose windows are refused. Other windows only change when it moves what
// it would anyway.
func mendWindows(b *topology.Balancer) {
	b.Refused = slices.DeleteFunc(slices.Clone(b.Refused), func(r topology.RefusedSetting) bool {
		return r.Doc == "balancer" && (r.Field == "activeWindow" || r.Field == "activeWindowDOW")
	})
}
