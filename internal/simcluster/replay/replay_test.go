package replay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// script makes the changes before a step that are not in the recording; it reports
// whether it ran the step itself.
type script map[int]func(p *player, s step) bool

// conversations lists the recordings that can be replayed completely. Each cluster
// starts at the recorded time, so that times in commands have the same meaning.
var conversations = []struct {
	file    string
	options simcluster.Options
	world   func() script
}{
	{file: "walk-1", options: simcluster.Options{Still: true, Epoch: time.Unix(1795274653, 0)}},
	{file: "walk-2", options: simcluster.Options{Still: true, Epoch: time.Unix(1795274700, 0)}},
	{file: "walk-3", options: simcluster.Options{Still: true, Epoch: time.Unix(1795274750, 0)}},
	{file: "mongosh", options: simcluster.Options{Still: true, Epoch: time.Unix(1795275625, 0)}, world: shellScript},
	{file: "transcript", options: simcluster.Options{Epoch: time.Unix(1795274561, 0), Reshard: 2 * time.Second}, world: scenarioScript},
	{file: "jumbo", options: simcluster.Options{Epoch: time.Unix(1795275500, 0)}, world: jumboScript},
	{file: "faults", options: simcluster.Options{Epoch: time.Unix(1795275262, 0)}, world: faultsScript},
	{file: "8.0/walk-1", options: simcluster.Options{Still: true, Epoch: time.Unix(1795853989, 0)}},
	{file: "8.0/walk-2", options: simcluster.Options{Still: true, Epoch: time.Unix(1795854006, 0)}},
	{file: "8.0/walk-3", options: simcluster.Options{Still: true, Epoch: time.Unix(1795854022, 0)}},
	{file: "8.0/walk-4", options: simcluster.Options{Still: true, Epoch: time.Unix(1795863622, 0)}},
	{file: "8.0/walk-5", options: simcluster.Options{Still: true, Epoch: time.Unix(1795863662, 0)}},
	{file: "8.0/transcript", options: simcluster.Options{Epoch: time.Unix(1795853880, 0), Reshard: 2 * time.Second}, world: scenario8Script},
	{file: "8.0/eight", options: simcluster.Options{Epoch: time.Unix(1795854735, 0), Reshard: 2 * time.Second}, world: eightScript},
	{file: "8.0/jumbo", options: simcluster.Options{Epoch: time.Unix(1795854992, 0)}, world: jumbo8Script},
	{file: "8.0/faults", options: simcluster.Options{Epoch: time.Unix(1795863190, 0), OrphanDelay: time.Second}, world: faults8Script},
}

func TestRepliesEqualTheRecordedOnes(t *testing.T) {
	total, played := 0, 0
	for _, c := range conversations {
		if testing.Short() && strings.Contains(c.file, "walk-") && !strings.HasSuffix(c.file, "walk-1") {
			continue
		}
		t.Run(c.file, func(t *testing.T) {
			played++
			synctest.Test(t, func(t *testing.T) {
				c.options.Empty = true
				c.options.ServerVersion = releaseOf(c.file)
				p := newPlayer(t, c.file, c.options)
				defer p.close()
				var world script
				if c.world != nil {
					world = c.world()
				} else {
					p.cluster.Start(t.Context())
				}
				p.restoreZones()
				for _, s := range recording(t, c.file) {
					if c.options.ServerVersion != "" {
						p.placeAsRecorded(s)
					}
					if f := world[s.N]; f != nil && f(p, s) {
						continue
					}
					p.play(s)
				}
				total += p.reportCompared()
			})
		})
	}
	t.Logf("%d replies and dumps compared exactly", total)
	if played == len(conversations) {
		loadRules(t).reportUnused(t)
	}
}

// elsewhere lists the recordings that other tests replay: they need users, no server,
// or exact timing.
var elsewhere = []string{"access", "yorkie", "routing", "inflight", "busy", "8.0/access", "8.0/inflight", "8.0/mongosh"}

func TestEveryRecordingIsReplayedByATest(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "recordings", "*.jsonl.gz"))
	newer, _ := filepath.Glob(filepath.Join("..", "testdata", "recordings", "*", "*.jsonl.gz"))
	files = append(files, newer...)
	must.That(t, err == nil && len(files) >= 10, "%d recordings, %v, want at least 10", len(files), err)
	for _, f := range files {
		_, name, _ := strings.Cut(filepath.ToSlash(f), "recordings/")
		name = strings.TrimSuffix(name, ".jsonl.gz")
		replayed := slices.Contains(elsewhere, name)
		for _, c := range conversations {
			replayed = replayed || c.file == name
		}
		expect.That(t, replayed, "no test replays %s", name)
	}
}

// least is the share of the steps, in percent, that must agree of every recording.
const least = 97

// reportCompared fails the test for steps that were not compared, prints the number of
// compared steps and returns the number of exactly compared ones.
func (p *player) reportCompared() int {
	p.t.Helper()
	count := make(map[string]int)
	for _, s := range recording(p.t, p.file) {
		how, done := p.done[s.N]
		expect.That(p.t, done, "%s %d %s was not played", p.file, s.N, s.Note)
		count[s.Kind+" "+how]++
		count[how]++
	}
	p.t.Logf("%s: %d replies and %d dumps exact; type only %d, invariant only %d, not reproducible %d, different %d, failed %d", p.file,
		count["command "+exact], count["dump "+exact], count[typeOnly], count[invariant], count[absent], count[different], count[failed])
	if compared := count[exact] + count[different]; 100*count[exact] < least*compared {
		p.t.Errorf("%s: %d of %d steps agree, want at least %d %%", p.file, count[exact], compared, least)
	}
	return count[exact]
}

// reportUnused fails the test for rules that were not needed.
func (r *rules) reportUnused(t *testing.T) {
	t.Helper()
	for _, f := range r.fields {
		expect.That(t, *f.uses != 0, "replay.yaml: the rule for %s in %q is unused", f.field, f.in)
	}
	for _, o := range r.order {
		expect.That(t, *o.uses != 0, "replay.yaml: the order rule of %s in %q is unused", o.field, o.in)
	}
	for _, s := range r.steps {
		expect.That(t, s.to < len(recording(t, s.file)), "replay.yaml: %s has no step %d", s.file, s.to)
	}
}

// shellScript prepares the recording of mongosh helpers, in which the router chose this
// primary.
func shellScript() script {
	return script{5: func(p *player, _ step) bool {
		p.mustRun("admin", bson.D{{Key: "enableSharding", Value: "yorkie-meta"}, {Key: "primaryShard", Value: "shard-rs-2"}})
		return false
	}}
}
