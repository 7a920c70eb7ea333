package actions

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

func metaOf(f func(*topology.Meta)) func(*Situation) {
	return func(s *Situation) { f(&collectionIn(s, documents).Meta) }
}

func defragmenting(phase string) func(*Situation) {
	return metaOf(func(m *topology.Meta) { m.Defragmenting, m.Phase = true, phase })
}

func TestChecksOfCollectionSettings(t *testing.T) {
	set := func(on bool) func(Situation) Args { return fixed(Args{NS: documents, On: yes(on)}) }
	size := func(n int) func(Situation) Args { return fixed(Args{NS: documents, Size: mb(n)}) }
	cut := fixed(Args{NS: documents, At: doc(project(30))})
	sizes := func(mb ...int64) func(*Situation) {
		return func(s *Situation) { setSizes(s.Table, documents, mb...) }
	}
	blocked := metaOf(func(m *topology.Meta) { m.MigrationsBlocked = true })
	noBalance := metaOf(func(m *topology.Meta) { m.NoBalance = true })
	moving := func(s *Situation) {
		s.Activity.Migrations = []balance.Migration{{NS: documents, From: "a", To: "b"}}
	}
	window := func(s *Situation) { s.Table.Balancer.WindowStart, s.Table.Balancer.WindowStop = "01:00", "02:00" }
	runChecks(t, "0.6.38", []checkCase{
		caseOf("an older release", AllowMigrations, set(false), Block, "release.since", version("4.4.9")),
		caseOf("an older release for sizes", ChunkSize, size(7), Block, "release.since", version("5.0.7")),
		caseOf("a release that has it", AllowMigrations, set(false), Pass, "release.has", version("5.0.7")),
		caseOf("a block is warned of", AllowMigrations, set(false), Warn, "outage.forgotten", version("5.0.7")),
		caseOf("a block while a shard drains", AllowMigrations, set(false), Warn, "switch.drains", version("5.0.7"), draining("a")),
		caseOf("a block while a chunk moves", AllowMigrations, set(false), Warn, "switch.breaksMove", version("5.0.7"), moving),
		caseOf("blocked already", AllowMigrations, set(false), Block, "switch.blocked", version("5.0.7"), blocked),
		caseOf("allowed, and the balancer begins", AllowMigrations, set(true), Warn, "following.moves",
			version("7.0.2"), blocked, balancing, sizes(5000, 10, 10)),
		caseOf("allowed, and the balancer is off", AllowMigrations, set(true), Warn, "following.later",
			version("7.0.2"), blocked, sizes(5000, 10, 10)),
		caseOf("allowed, and nothing moves", AllowMigrations, set(true), Pass, "following.none",
			version("7.0.2"), blocked, balancing, sizes(10, 10, 10)),
		caseOf("allowed, and sizes are not known", AllowMigrations, set(true), Warn, "following.unknown",
			version("7.0.2"), blocked, balancing, func(s *Situation) { delete(s.Table.Sizes, documents) }),

		caseOf("a threshold", ChunkSize, size(7), Pass, "threshold.data", version("7.0.2")),
		caseOf("a threshold by counts", ChunkSize, size(7), Pass, "threshold.count", version("6.0.2")),
		caseOf("an unknown size of the cluster", ChunkSize, size(7), Warn, "threshold.unknown",
			version("7.0.2"), func(s *Situation) { s.Table.Balancer.ChunkBytes = 0 }),
		caseOf("smaller, and the balancer begins", ChunkSize, size(1), Warn, "following.moves",
			version("7.0.2"), balancing, sizes(50, 10, 10)),
		caseOf("larger, and the balancer rests", ChunkSize, size(1024), Pass, "following.none",
			version("7.0.2"), balancing, sizes(500, 10, 10)),
		caseOf("smaller than the chunks are", ChunkSize, size(1), Warn, "chunks.tooBig", version("7.0.2"), sizes(500, 10, 10)),
		caseOf("smaller", ChunkSize, size(32), Pass, "chunks.smaller", version("7.0.2"), sizes(10, 10, 10)),
		caseOf("larger", ChunkSize, size(1024), Pass, "chunks.larger", version("7.0.2")),
		caseOf("the size that it has", ChunkSize, size(7), Block, "switch.size",
			version("7.0.2"), metaOf(func(m *topology.Meta) { m.MaxChunkBytes = 7 << 20 })),

		caseOf("merging on without a balancer", AutoMerge, set(true), Warn, "merging.waits",
			version("7.0.2"), metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })),
		caseOf("merging on", AutoMerge, set(true), Pass, "merging.begins",
			version("7.0.2"), balancing, metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })),
		caseOf("merging off", AutoMerge, set(false), Pass, "merging.stays", version("7.0.2")),
		caseOf("merging off twice", AutoMerge, set(false), Block, "switch.already",
			version("7.0.2"), metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })),

		caseOf("defragment", Defragment, set(true), Pass, "works.on", version("7.0.2"), balancing),
		caseOf("defragment, what it costs", Defragment, set(true), Warn, "background.load", version("7.0.2"), balancing),
		caseOf("defragment in a window", Defragment, set(true), Warn, "works.window", version("7.0.2"), balancing, window),
		caseOf("defragment without balancing", Defragment, set(true), Block, "works.collectionOff",
			version("7.0.2"), balancing, noBalance),
		caseOf("defragment with moves blocked", Defragment, set(true), Block, "works.blocked", version("7.0.2"), balancing, blocked),
		caseOf("defragment with unknown settings", Defragment, set(true), Warn, "works.unknown",
			version("7.0.2"), func(s *Situation) { s.Table.Balancer.Known = false }),
		caseOf("defragment twice", Defragment, set(true), Block, "switch.defragmenting",
			version("7.0.2"), balancing, defragmenting("moveAndMergeChunks")),
		caseOf("defragment with a defect", Defragment, set(true), Warn, "defect.defragment", version("6.0.3"), balancing),
		caseOf("stop", Defragment, set(false), Pass, "ends.soon", version("7.0.2"), balancing, defragmenting("moveAndMergeChunks")),
		caseOf("stop before the first phase", Defragment, set(false), Pass, "ends.soon",
			version("7.0.2"), balancing, defragmenting("")),
		caseOf("stop without a balancer", Defragment, set(false), Warn, "ends.waits",
			version("7.0.2"), defragmenting("moveAndMergeChunks")),
		caseOf("stop the last phase", Defragment, set(false), Block, "switch.endsAlready",
			version("7.0.2"), balancing, defragmenting("mergeChunks")),

		caseOf("a split of what is defragmented", Split, cut, Warn, "competing.defragmentation",
			version("7.0.2"), balancing, defragmenting("mergeChunks")),
		caseOf("a split of what is merged", Split, cut, Warn, "undo-by-balancer.autoMerge", version("7.0.2"), balancing),
		caseOf("a split of what is not merged", Split, cut, Pass, "undo-by-balancer.stays",
			version("7.0.2"), balancing, metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })),
	})
}

// A release without the command is named with the release that has it.
func TestOldReleaseIsToldWhichOneHasTheCommand(t *testing.T) {
	for kind, want := range map[Kind]string{
		AllowMigrations: "allow-migrations needs MongoDB 5.0.0 or later; this cluster runs 4.4.9.",
		ChunkSize:       "chunk-size needs MongoDB 5.3.0 or later; this cluster runs 4.4.9.",
		AutoMerge:       "auto-merge needs MongoDB 7.0.0 or later; this cluster runs 4.4.9.",
		Defragment:      "defragment needs MongoDB 5.3.0 or later; this cluster runs 4.4.9.",
	} {
		a := Args{NS: documents, On: yes(false)}
		if kind == ChunkSize {
			a = Args{NS: documents, Size: mb(7)}
		}
		d, _ := plan(t, cluster(t, "0.6.38", "4.4.9"), kind, a)
		i := slices.IndexFunc(d.Checks, func(c Check) bool { return c.ID == "release" })
		expect.Equal(t, d.Checks[i].Text.String(), want, "%s", kind)
	}
}

// Blocking all moves, by a plan or by an undo, has to be confirmed by typing; what only
// restores has not.
func TestRiskOfCollectionSettings(t *testing.T) {
	blocked := metaOf(func(m *topology.Meta) { m.MigrationsBlocked = true })
	for _, x := range []struct {
		name    string
		version string
		kind    Kind
		args    Args
		change  []func(*Situation)
		want    Risk
		confirm string
	}{
		{"block", "7.0.2", AllowMigrations, Args{NS: documents, On: yes(false)}, nil, High, string(documents)},
		{"allow", "7.0.2", AllowMigrations, Args{NS: documents, On: yes(true)}, []func(*Situation){blocked}, Low, ""},
		{"merging", "7.0.2", AutoMerge, Args{NS: documents, On: yes(false)}, nil, Low, ""},
		{"a larger size", "7.0.2", ChunkSize, Args{NS: documents, Size: mb(512)}, nil, Low, ""},
		{"a size that cannot be restored", "7.0.2", ChunkSize, Args{NS: documents, Size: mb(512)},
			[]func(*Situation){metaOf(func(m *topology.Meta) { m.MaxChunkBytes = 1000 })}, High, string(documents)},
		{"defragment", "7.0.2", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing}, Medium, ""},
		{"defragment with a defect", "6.1.1", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing}, High,
			string(documents)},
	} {
		d, _ := plan(t, cluster(t, "0.6.38", x.version, x.change...), x.kind, x.args)
		expect.That(t, d.Risk == x.want && d.Confirm == x.confirm,
			"%s: %s %q, want %s %q", x.name, d.Risk, d.Confirm, x.want, x.confirm)
	}
	allow := cluster(t, "0.6.38", "7.0.2", blocked)
	d, a := plan(t, allow, AllowMigrations, Args{NS: documents, On: yes(true)})
	undo, err := PlanUndo(cluster(t, "0.6.38", "7.0.2"), AllowMigrations, a, d.Summary, d.Steps, d.Effect)
	expect.That(t, err == nil && undo.Risk == High && undo.Confirm != "" && len(undo.Steps) == 1 && !undo.Steps[0].On,
		"an undo that blocks moves again: %v %s %q %v", err, undo.Risk, undo.Confirm, undo.Steps)
}

func TestUndoRestoresThePreviousSetting(t *testing.T) {
	size := func(bytes int64) func(*Situation) { return metaOf(func(m *topology.Meta) { m.MaxChunkBytes = bytes }) }
	blocked := metaOf(func(m *topology.Meta) { m.MigrationsBlocked = true })
	noMerge := metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })
	for _, x := range []struct {
		name          string
		kind          Kind
		args          Args
		before, after []func(*Situation)
		want          string // text of the step, or what is in the error
	}{
		{"block", AllowMigrations, Args{NS: documents, On: yes(false)}, nil, []func(*Situation){blocked}, "Allow moves of {ns}"},
		{"block, and somebody allowed", AllowMigrations, Args{NS: documents, On: yes(false)}, nil, nil, "was changed since"},
		{"size", ChunkSize, Args{NS: documents, Size: mb(7)}, []func(*Situation){size(32 << 20)}, []func(*Situation){size(7 << 20)},
			"Set the chunk size of {ns} to 32"},
		{"first size", ChunkSize, Args{NS: documents, Size: mb(7)}, nil, []func(*Situation){size(7 << 20)},
			"Use the cluster’s chunk size for {ns}"},
		{"no size", ChunkSize, Args{NS: documents, Size: mb(0)}, []func(*Situation){size(7 << 20)}, nil, "Set the chunk size of {ns} to 7"},
		{"another size since", ChunkSize, Args{NS: documents, Size: mb(7)}, nil, []func(*Situation){size(8 << 20)}, "was changed since"},
		{"merging", AutoMerge, Args{NS: documents, On: yes(false)}, nil, []func(*Situation){noMerge}, "Turn on automatic merging of {ns}"},
		{"defragment", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing},
			[]func(*Situation){balancing, defragmenting("moveAndMergeChunks")}, "Stop defragmenting {ns}"},
		{"defragment, and it is over", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing},
			[]func(*Situation){balancing}, "is over"},
		{"defragment, and it ends", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing},
			[]func(*Situation){balancing, defragmenting("mergeChunks")}, "last phase"},
		{"stop", Defragment, Args{NS: documents, On: yes(false)}, []func(*Situation){balancing, defragmenting("moveAndMergeChunks")},
			[]func(*Situation){balancing}, "Start to defragment {ns}"},
		{"stop, and it still ends", Defragment, Args{NS: documents, On: yes(false)},
			[]func(*Situation){balancing, defragmenting("moveAndMergeChunks")}, []func(*Situation){balancing, defragmenting("mergeChunks")},
			"last phase"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d, a := plan(t, cluster(t, "0.6.38", "7.0.2", x.before...), x.kind, x.args)
			undo, err := PlanUndo(cluster(t, "0.6.38", "7.0.2", x.after...), x.kind, a, d.Summary, d.Steps, d.Effect)
			var got string
			switch {
			case err != nil:
				if got = err.Error(); fault.Of(err) != fault.Conflict {
					t.Errorf("%v", err)
				}
			case len(undo.Steps) == 1:
				m := undo.Steps[0].Text()
				got = strings.NewReplacer("{size}", message.New("", "{size}", m.Facts...).String()).Replace(m.Pattern)
			}
			expect.That(t, strings.Contains(got, x.want), "%q, want %q", got, x.want)
		})
	}
}
