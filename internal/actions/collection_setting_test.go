package actions

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/balance"
	"shardboard/internal/fault"
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
	set := func(on bool) Args { return Args{NS: documents, On: yes(on)} }
	size := func(n int) Args { return Args{NS: documents, Size: mb(n)} }
	type changes = []func(*Situation)
	sizes := func(mb ...int64) func(*Situation) {
		return func(s *Situation) { setSizes(s.Table, documents, mb...) }
	}
	blocked := metaOf(func(m *topology.Meta) { m.MigrationsBlocked = true })
	noBalance := metaOf(func(m *topology.Meta) { m.NoBalance = true })
	moving := func(s *Situation) {
		s.Activity.Migrations = []balance.Migration{{NS: documents, From: "a", To: "b"}}
	}
	window := func(s *Situation) { s.Table.Balancer.WindowStart, s.Table.Balancer.WindowStop = "01:00", "02:00" }
	for _, x := range []struct {
		name    string
		version string
		kind    Kind
		args    Args
		change  changes
		want    Verdict
		code    string
	}{
		{"an older release", "4.4.9", AllowMigrations, set(false), nil, Block, "release.since"},
		{"an older release for sizes", "5.0.7", ChunkSize, size(7), nil, Block, "release.since"},
		{"a release that has it", "5.0.7", AllowMigrations, set(false), nil, Pass, "release.has"},
		{"a block is warned of", "5.0.7", AllowMigrations, set(false), nil, Warn, "outage.forgotten"},
		{"a block while a shard drains", "5.0.7", AllowMigrations, set(false), changes{draining("a")}, Warn, "switch.drains"},
		{"a block while a chunk moves", "5.0.7", AllowMigrations, set(false), changes{moving}, Warn, "switch.breaksMove"},
		{"blocked already", "5.0.7", AllowMigrations, set(false), changes{blocked}, Block, "switch.blocked"},
		{"allowed, and the balancer begins", "7.0.2", AllowMigrations, set(true), changes{blocked, balancing, sizes(5000, 10, 10)}, Warn,
			"following.moves"},
		{"allowed, and the balancer is off", "7.0.2", AllowMigrations, set(true), changes{blocked, sizes(5000, 10, 10)}, Warn,
			"following.later"},
		{"allowed, and nothing moves", "7.0.2", AllowMigrations, set(true), changes{blocked, balancing, sizes(10, 10, 10)}, Pass,
			"following.none"},
		{"allowed, and sizes are not known", "7.0.2", AllowMigrations, set(true),
			changes{blocked, balancing, func(s *Situation) { delete(s.Table.Sizes, documents) }}, Warn, "following.unknown"},

		{"a threshold", "7.0.2", ChunkSize, size(7), nil, Pass, "threshold.data"},
		{"a threshold by counts", "6.0.2", ChunkSize, size(7), nil, Pass, "threshold.count"},
		{"an unknown size of the cluster", "7.0.2", ChunkSize, size(7), changes{func(s *Situation) { s.Table.Balancer.ChunkBytes = 0 }}, Warn,
			"threshold.unknown"},
		{"smaller, and the balancer begins", "7.0.2", ChunkSize, size(1), changes{balancing, sizes(50, 10, 10)}, Warn, "following.moves"},
		{"larger, and the balancer rests", "7.0.2", ChunkSize, size(1024), changes{balancing, sizes(500, 10, 10)}, Pass, "following.none"},
		{"smaller than the chunks are", "7.0.2", ChunkSize, size(1), changes{sizes(500, 10, 10)}, Warn, "chunks.tooBig"},
		{"smaller", "7.0.2", ChunkSize, size(32), changes{sizes(10, 10, 10)}, Pass, "chunks.smaller"},
		{"larger", "7.0.2", ChunkSize, size(1024), nil, Pass, "chunks.larger"},
		{"the size that it has", "7.0.2", ChunkSize, size(7), changes{metaOf(func(m *topology.Meta) { m.MaxChunkBytes = 7 << 20 })}, Block,
			"switch.size"},

		{"merging on without a balancer", "7.0.2", AutoMerge, set(true), changes{metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })}, Warn,
			"merging.waits"},
		{"merging on", "7.0.2", AutoMerge, set(true), changes{balancing, metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })}, Pass,
			"merging.begins"},
		{"merging off", "7.0.2", AutoMerge, set(false), nil, Pass, "merging.stays"},
		{"merging off twice", "7.0.2", AutoMerge, set(false), changes{metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })}, Block,
			"switch.already"},

		{"defragment", "7.0.2", Defragment, set(true), changes{balancing}, Pass, "works.on"},
		{"defragment, what it costs", "7.0.2", Defragment, set(true), changes{balancing}, Warn, "background.load"},
		{"defragment in a window", "7.0.2", Defragment, set(true), changes{balancing, window}, Warn, "works.window"},
		{"defragment without balancing", "7.0.2", Defragment, set(true), changes{balancing, noBalance}, Block, "works.collectionOff"},
		{"defragment with moves blocked", "7.0.2", Defragment, set(true), changes{balancing, blocked}, Block, "works.blocked"},
		{"defragment with unknown settings", "7.0.2", Defragment, set(true), changes{func(s *Situation) { s.Table.Balancer.Known = false }},
			Warn, "works.unknown"},
		{"defragment twice", "7.0.2", Defragment, set(true), changes{balancing, defragmenting("moveAndMergeChunks")}, Block,
			"switch.defragmenting"},
		{"defragment with a defect", "6.0.3", Defragment, set(true), changes{balancing}, Warn, "defect.defragment"},
		{"stop", "7.0.2", Defragment, set(false), changes{balancing, defragmenting("moveAndMergeChunks")}, Pass, "ends.soon"},
		{"stop before the first phase", "7.0.2", Defragment, set(false), changes{balancing, defragmenting("")}, Pass, "ends.soon"},
		{"stop without a balancer", "7.0.2", Defragment, set(false), changes{defragmenting("moveAndMergeChunks")}, Warn, "ends.waits"},
		{"stop the last phase", "7.0.2", Defragment, set(false), changes{balancing, defragmenting("mergeChunks")}, Block, "switch.endsAlready"},

		{"a split of what is defragmented", "7.0.2", Split, Args{NS: documents, At: doc(t, project(30))},
			changes{balancing, defragmenting("mergeChunks")}, Warn, "competing.defragmentation"},
		{"a split of what is merged", "7.0.2", Split, Args{NS: documents, At: doc(t, project(30))}, changes{balancing}, Warn,
			"undo-by-balancer.autoMerge"},
		{"a split of what is not merged", "7.0.2", Split, Args{NS: documents, At: doc(t, project(30))},
			changes{balancing, metaOf(func(m *topology.Meta) { m.AutoMergeOff = true })}, Pass, "undo-by-balancer.stays"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d, _ := plan(t, cluster(t, "0.6.38", x.version, x.change...), x.kind, x.args)
			if !slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Text.Code == x.code && c.Verdict == x.want }) {
				t.Errorf("no check %s %s among %v", x.want, x.code, verdicts(d))
			}
		})
	}
}

func verdicts(d Draft) (out []string) {
	for _, c := range d.Checks {
		out = append(out, string(c.Verdict)+" "+c.Text.Code)
	}
	return out
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
		if got := d.Checks[i].Text.String(); got != want {
			t.Errorf("%s: %s", kind, got)
		}
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
		if d.Risk != x.want || d.Confirm != x.confirm {
			t.Errorf("%s: %s %q, want %s %q", x.name, d.Risk, d.Confirm, x.want, x.confirm)
		}
	}
	allow := cluster(t, "0.6.38", "7.0.2", blocked)
	d, a := plan(t, allow, AllowMigrations, Args{NS: documents, On: yes(true)})
	undo, err := PlanUndo(cluster(t, "0.6.38", "7.0.2"), AllowMigrations, a, d.Summary, d.Steps, d.Effect)
	if err != nil || undo.Risk != High || undo.Confirm == "" || len(undo.Steps) != 1 || undo.Steps[0].On {
		t.Errorf("an undo that blocks moves again: %v %s %q %v", err, undo.Risk, undo.Confirm, undo.Steps)
	}
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
			if !strings.Contains(got, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

func TestChunkSizeOfAFactIsRead(t *testing.T) {
	for bytes, want := range map[int64]int{0: 0, 1 << 20: 1, 64 << 20: 64, 1 << 30: 1024, 1<<20 + 1: -1, 1 << 31: -1} {
		got, ok := chunkMB(chunkSizeText(bytes))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%d as %q: %d, want %d", bytes, chunkSizeText(bytes), got, want)
		}
	}
}
