package actions_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// site is a simulated cluster with Yorkie's data, its balancer off.
type site struct {
	t       *testing.T
	c       *cluster.Client
	watcher *topology.Watcher
}

func onSimulator(t *testing.T, version, layout string, test func(s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(
			t.Context(),
			simcluster.Options{ServerVersion: version, Layout: layout, Projects: 12, Documents: 300, Still: true,
				Epoch: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
		)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri, err := cluster.ParseURI(simcluster.URI())
		if err != nil {
			t.Fatal(err)
		}
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		test(&site{t: t, c: c, watcher: topology.NewWatcher(c, topology.Options{})})
	})
}

func (s *site) situation() actions.Situation {
	s.t.Helper()
	tab, err := s.watcher.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	p := profile.Yorkie()
	rows, err := s.c.Projects(s.t.Context(), db, p.Names, bson.ObjectID{}, true)
	if err != nil {
		s.t.Fatal(err)
	}
	var projects []placement.Project
	for _, r := range rows {
		projects = append(projects, placement.Project{DB: db, ID: r.ID, Name: r.Name, PublicKey: r.PublicKey})
	}
	now := time.Now()
	return actions.Situation{Table: tab, Profile: p, Release: balance.ReleaseOf(tab.ServerInfo.Version), Now: now, SharedAt: now,
		Directory: placement.NewDirectory(1, []string{db}, projects, topology.Health{At: now}), Activity: actions.Activity{Known: true, At: now}}
}

// run sends the steps. By the cluster's answers, each precondition must be true before its
// step, and each proof after.
func (s *site) run(steps []actions.Step) error {
	holds := func(when string, facts []actions.Fact) error {
		for _, f := range facts {
			got, err := s.c.ReadFact(s.t.Context(), f)
			if err != nil {
				return err
			}
			if diff := f.Against(got); len(diff) > 0 {
				return fmt.Errorf("%s: %+v", when, diff)
			}
		}
		return nil
	}
	for i, step := range steps {
		if err := holds("needs", step.Needs); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, step.Op, err)
		}
		if step.Op != actions.OpAwait {
			if err := step.Send(s.t.Context(), s.c, "run"); err != nil {
				return fmt.Errorf("step %d, %s: %w", i, step.Op, err)
			}
		}
		err := holds("proof", step.Proof)
		for n := 0; err != nil && step.Op == actions.OpAwait && n < 1000; n++ {
			time.Sleep(5 * time.Second)
			err = holds("proof", step.Proof)
		}
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i, step.Op, err)
		}
	}
	return nil
}

// picture is the owners of all ranges, and the zones.
func (s *site) picture(t *topology.Table) string {
	var out []string
	for _, c := range t.Collections {
		for _, ch := range c.Chunks.All() {
			out = append(out, fmt.Sprintf("%s %s %s", c.NS, c.Key.Display(ch.Min), ch.Shard))
		}
	}
	for _, z := range t.Zones {
		out = append(out, fmt.Sprintf("%s %s %s %s", z.NS, z.Zone, z.RawMin, z.RawMax))
	}
	for _, sh := range t.Shards {
		out = append(out, fmt.Sprintf("%s %q", sh.Name, slices.Sorted(slices.Values(sh.Zones))))
	}
	return strings.Join(out, "\n")
}

// Every plan that is not blocked runs on the cluster, and its undo restores the previous
// state at once.
func TestPlansRunAndUndoOnSimulatedCluster(t *testing.T) {
	const documents, clients, changes = topology.Namespace(db + ".documents"), topology.Namespace(db +
		".clients"), topology.Namespace(db + ".changes")
	bounds := func(t *topology.Table, ns topology.Namespace, i int) [2]bson.Raw {
		c := t.Collection(ns)
		ch := c.Chunks.At(i)
		lo, _ := c.Key.Document(ch.Min)
		hi, _ := c.Key.Document(ch.Max)
		return [2]bson.Raw{lo, hi}
	}
	versions := []string{"5.0", "7.0"}
	if !testing.Short() {
		versions = []string{"4.4", "5.0", "6.0", "7.0", "8.0"}
	}
	for _, layout := range []string{"yorkie-head", "yorkie-0.4"} {
		for _, version := range versions {
			t.Run(layout+" "+version, func(t *testing.T) {
				onSimulator(t, version, layout, func(s *site) {
					t := s.t
					ran := 0
					for _, kind := range []actions.Kind{actions.Split, actions.SplitProject, actions.MoveChunk, actions.Pin, actions.Isolate,
						actions.Spread} {
						now := s.situation()
						project := now.Directory.All()[5]
						other := ""
						home := now.Table.Collection(documents).Chunks.Owner(0)
						for _, sh := range now.Table.Shards {
							if sh.Name != home {
								other = cmp.Or(other, sh.Name)
							}
						}
						a := actions.Args{}
						switch kind {
						case actions.Split:
							a = actions.Args{NS: changes, Bounds: bounds(now.Table, changes, 0), Parts: 4}
							if layout == "yorkie-0.4" {
								a.Parts = 0
							}
						case actions.MoveChunk:
							a = actions.Args{NS: documents, Bounds: bounds(now.Table, documents, 0), To: other}
						case actions.Pin, actions.Isolate:
							a = actions.Args{Project: project.ID.Hex(), Shard: other}
						default:
							a = actions.Args{Project: project.ID.Hex()}
						}
						before := s.picture(now.Table)
						d, a, err := actions.Planners()[kind](now, a)
						if err != nil {
							t.Fatalf("%s: %v", kind, err)
						}
						if d.Blocked() {
							t.Logf("%s is blocked: %+v", kind, blockingTexts(d))
							continue
						}
						if err := s.run(d.Steps); err != nil {
							t.Fatalf("%s: %v", kind, err)
						}
						undo, err := actions.PlanUndo(s.situation(), kind, a, d.Summary, d.Steps, d.Effect)
						if err != nil {
							t.Fatalf("undo %s: %v", kind, err)
						}
						if err := s.run(undo.Steps); err != nil {
							t.Fatalf("undo %s: %v", kind, err)
						}
						if after := s.picture(s.situation().Table); after != before {
							t.Fatalf("%s and its undo leave\n%s\nfor\n%s", kind, after, before)
						}
						ran++
					}
					if ran < 3 {
						t.Errorf("only %d plans ran", ran)
					}
				})
			})
		}
	}
}

func blockingTexts(d actions.Draft) (out []message.Message) {
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			out = append(out, c.Text)
		}
	}
	return out
}

func TestBalancerMovesPinnedProjectToItsShard(t *testing.T) {
	for _, version := range []string{"5.0", "7.0"} {
		t.Run(version, func(t *testing.T) {
			onSimulator(t, version, "yorkie-head", func(s *site) {
				t := s.t
				if err := s.c.StartBalancer(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				for _, kind := range []actions.Kind{actions.Pin, actions.Isolate} {
					now := s.situation()
					project := now.Directory.All()[3]
					d, _, err := actions.Planners()[kind](now, actions.Args{Project: project.Name, Shard: "shard-rs-3", Mode: actions.ModeBalancer})
					if err != nil || d.Blocked() {
						t.Fatalf("%s: %v, %+v", kind, err, blockingTexts(d))
					}
					if err := s.run(d.Steps); err != nil {
						t.Fatalf("%s: %v", kind, err)
					}
					time.Sleep(20 * time.Minute)
					d, _, err = actions.Planners()[actions.Unpin](s.situation(), actions.Args{Project: project.Name})
					if err != nil || d.Blocked() {
						t.Fatalf("unpin: %v, %+v", err, blockingTexts(d))
					}
					if err := s.run(d.Steps); err != nil {
						t.Fatalf("unpin: %v", err)
					}
				}
			})
		})
	}
}
