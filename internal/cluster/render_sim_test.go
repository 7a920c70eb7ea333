package cluster_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

// everyStep has one step for every op and every form of it.
func everyStep(t *testing.T) []actions.Step {
	t.Helper()
	p := func(n any) bson.Raw { return document(t, bson.D{{Key: "p", Value: n}}) }
	const ns = "app.users"
	return []actions.Step{
		{Op: actions.OpSplitAt, NS: ns, At: p(5)},
		{Op: actions.OpSplitMedian, NS: ns, Min: p(0), Max: p(5)},
		{Op: actions.OpMerge, NS: ns, Min: p(bson.MinKey{}), Max: p(5)},
		{Op: actions.OpMove, NS: ns, Min: p(0), Max: p(5), Shard: "shard-rs-2"},
		{Op: actions.OpMove, NS: ns, Min: p(0), Max: p(5), Shard: "shard-rs-2", Force: true, Wait: true},
		{Op: actions.OpMoveRange, NS: ns, Min: p(0), Max: p(5), Shard: "shard-rs-2"},
		{Op: actions.OpMoveRange, NS: ns, Min: p(0), Max: p(5), Shard: "shard-rs-2", Force: true, Wait: true},
		{Op: actions.OpClearJumbo, NS: ns, Min: p(0), Max: p(5)},
		{Op: actions.OpRefineKey, NS: ns, Key: p(int32(1))},
		{Op: actions.OpAddZone, Shard: "shard-rs-1", Zone: "e\x00u"},
		{Op: actions.OpRemoveZone, Shard: "shard-rs-1", Zone: "eu"},
		{Op: actions.OpSetRange, NS: ns, Min: p(0), Max: p(5), Zone: "eu"},
		{Op: actions.OpRemoveRange, NS: ns, Min: p(0), Max: p(5)},
		{Op: actions.OpBalancerOn},
		{Op: actions.OpBalancerOff},
		{Op: actions.OpBalancerWindow, Start: "01:00", Stop: "05:00"},
		{Op: actions.OpBalancerWindow},
		{Op: actions.OpBalancerWindow, Start: "01:00", Stop: "05:00", Days: "Monday 1:00-2:00"},
		{Op: actions.OpBalancing, NS: ns, On: true},
		{Op: actions.OpBalancing, NS: ns},
		{Op: actions.OpBeginRemoval, Shard: "shard-rs-3"},
		{Op: actions.OpStartDraining, Shard: "shard-rs-3"},
		{Op: actions.OpStopDraining, Shard: "shard-rs-3"},
		{Op: actions.OpRemoveShard, Shard: "shard-rs-3"},
		{Op: actions.OpReshard, NS: ns, Reshard: &actions.Reshard{Key: p(int32(1)), Chunks: 4,
			Zones: []actions.KeyZone{{Min: p(0), Max: p(5), Zone: "eu"}}}},
		{Op: actions.OpReshard, NS: ns, Reshard: &actions.Reshard{Key: p("hashed")}},
		{Op: actions.OpReshardCommit, NS: ns},
		{Op: actions.OpReshardAbort, NS: ns},
		{Op: actions.OpMovePrimary, DB: "app", Shard: "shard-rs-2"},
		{Op: actions.OpMoveCollection, NS: ns, Shard: "shard-rs-2"},
		{Op: actions.OpUnshard, NS: ns},
		{Op: actions.OpUnshard, NS: ns, Shard: "shard-rs-2"},
		{Op: actions.OpAbortMove, NS: ns},
		{Op: actions.OpAbortUnshard, NS: ns},
		{Op: actions.OpMigrations, NS: ns, On: true},
		{Op: actions.OpMigrations, NS: ns},
		{Op: actions.OpChunkSize, NS: ns, Size: 7},
		{Op: actions.OpChunkSize, NS: ns},
		{Op: actions.OpAutoMerge, NS: ns, On: true},
		{Op: actions.OpAutoMerge, NS: ns},
		{Op: actions.OpDefragment, NS: ns, On: true},
		{Op: actions.OpDefragment, NS: ns},
	}
}

var releasesOfCommands = []string{"4.4", "5.0", "6.0", "7.0", "8.0.9", "8.0.12", "8.3"}

// testdata/commands.txt has the command of every operation, or why there is none, by release.
func TestCommandsOfEveryReleaseAreThoseOfTheFile(t *testing.T) {
	commands := make([]map[string][]string, len(everyStep(t)))
	for _, release := range releasesOfCommands {
		o := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
		onSim(t, o, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
			for i, s := range everyStep(t) {
				text := ""
				if cmd, err := c.Render(s); err != nil {
					text = "refused: " + fault.Text(err)
				} else {
					text = cmd.DB + " " + cmd.Doc.String()
				}
				if commands[i] == nil {
					commands[i] = map[string][]string{}
				}
				commands[i][text] = append(commands[i][text], release)
			}
		})
	}
	var out strings.Builder
	for i, s := range everyStep(t) {
		for _, release := range releasesOfCommands {
			for text, in := range commands[i] {
				if in[0] == release {
					fmt.Fprintf(&out, "%s, %s: %s\n", s.Op, strings.Join(in, " "), text)
				}
			}
		}
	}
	const file = "testdata/commands.txt"
	if want, err := os.ReadFile(file); err != nil || string(want) != out.String() {
		t.Errorf("%s differs (%v); it is now\n%s", file, err, out.String())
	}
}

// A sent command is the rendered command followed by the comment, the time limit and
// the driver's fields.
func TestRenderedCommandIsTheSentCommand(t *testing.T) {
	for _, release := range releasesOfCommands {
		t.Run(release, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, line *counter) {
				_, err := c.Server(t.Context())
				must(t, err)
				line.commands()
				for _, s := range everyStep(t) {
					want, err := c.Render(s)
					if s.Days != "" && release != "8.3" {
						continue // refused
					}
					must(t, err)
					if sent := line.commands(); len(sent) != 0 {
						t.Fatalf("rendering %s sent %v", s.Op, sent)
					}
					_ = s.Send(t.Context(), c, "the run") // refused or not
					sent := line.commands()
					if len(sent) != 1 || sent[0].DB != want.DB {
						t.Fatalf("%s: sent %v, rendered %v", s.Op, sent, want)
					}
					body := want.Doc[4 : len(want.Doc)-1]
					if !slices.Equal(body, sent[0].Doc[4:4+len(body)]) {
						t.Errorf("%s: sent %v, rendered %v", s.Op, sent[0].Doc, want.Doc)
					}
					rest, err := bson.Raw(sent[0].Doc).Elements()
					must(t, err)
					own, err := want.Doc.Elements()
					must(t, err)
					for _, e := range rest[len(own):] {
						if !slices.Contains([]string{"comment", "maxTimeMS", "lsid", "$db", "$clusterTime", "$readPreference", "txnNumber"}, e.Key()) {
							t.Errorf("%s: %s was sent and not shown", s.Op, e)
						}
					}
				}
			})
		})
	}
}

func TestUnsupportedStepCannotBeRendered(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		sent.take()
		if _, err := c.Render(actions.Step{Op: actions.OpBalancerWindow, Start: "1:00", Stop: "25:00"}); fault.Of(err) != fault.Invalid {
			t.Error(err)
		}
		if _, err := c.Render(actions.Step{Op: "format"}); err == nil {
			t.Error("rendered an op that does not exist")
		}
		if cmd, err := c.Render(actions.Step{Op: actions.OpAwait}); err != nil || cmd.Doc != nil {
			t.Error(cmd, err)
		}
		if n := len(sent.take()); n != 0 {
			t.Errorf("%d commands sent", n)
		}
	})
}
