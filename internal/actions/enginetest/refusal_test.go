package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
)

// refused runs a plan that must not be run, and gives what is said to have changed.
func (r *Rig) refused(p actions.Plan, ask engine.RunRequest) []actions.Difference {
	r.Helper()
	_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, ask)
	var differs *engine.ChangedError
	if !errors.As(err, &differs) {
		r.Fatalf("%v, want what changed", err)
	}
	if n := len(r.Sim.Faults().Seen()); n != 0 {
		r.Errorf("%d commands were sent", n)
	}
	return differs.Differences
}

func fields(ds []actions.Difference) (out []string) {
	for _, d := range ds {
		out = append(out, d.Field)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What somebody did behind a plan's back makes a check block too; that it
// changed is what there is to say.
func TestAPlanThatSomebodyElseHasCarriedOutIsToldWhatChanged(t *testing.T) {
	chunk := [2]bson.Raw{P(0), P(10)}
	for _, c := range []struct {
		kind   actions.Kind
		args   actions.Args
		behind bson.D
		want   []string
	}{
		{actions.MoveChunk, actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"},
			bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}},
			[]string{"lastmod", "shard"}},
		{actions.ZoneAddShard, actions.Args{Shard: "shard-rs-2", Zone: "eu"},
			bson.D{{Key: "addShardToZone", Value: "shard-rs-2"}, {Key: "zone", Value: "eu"}}, []string{"member"}},
		{actions.BalancerOn, actions.Args{}, bson.D{{Key: "balancerStart", Value: 1}}, []string{"on"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.Plan(c.kind, c.args)
				r.Admin(c.behind)
				got := r.refused(p, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
				if !slices.Equal(fields(got), c.want) {
					r.Errorf("changed %+v, want the fields %v", got, c.want)
				}
			})
		})
	}
}

func TestAPlanThatIsNotTheOneShownOrTooOldIsToldSoAsAField(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.moveOf()
		for _, hash := range []string{"", "0000", strings.Repeat("x", 1000)} {
			got := r.refused(p, engine.RunRequest{Hash: hash})
			if len(got) != 1 || got[0].Field != "hash" || got[0].Want != p.Hash || hash == "0000" && got[0].Got != hash || len(got[0].Got) > 100 {
				r.Errorf("%.10q: %+v", hash, got)
			}
		}
		time.Sleep(engine.Expiry)
		if got := r.refused(p, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); len(got) != 1 || got[0].Field != "expiresAt" ||
			got[0].Want != p.Expires.Format(time.RFC3339) {
			r.Errorf("expired: %+v", got)
		}
	})
}

func TestNothingIsPlannedWhileTheClusterCannotBeRead(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.moveOf()
		r.Line.Cut()
		ask := engine.Request{Kind: actions.BalancerOn, Reason: "a test"}
		for _, limit := range []time.Duration{11 * time.Second, 3 * time.Second} {
			begun := time.Now()
			_, err := r.Engine.Plan(r.Context(), Anna, ask)
			if took := time.Since(begun); fault.Of(err) != fault.Unavailable || took > limit {
				r.Errorf("%v after %s, want that it is unavailable within %s", err, took, limit)
			}
			// The poll that goes on all the time notices too.
			_ = r.Watcher.Refresh(r.Context())
		}
		if _, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); fault.Of(
			err,
		) != fault.Unavailable {
			r.Errorf("run: %v", err)
		}
		r.Line.Mend()
		if _, err := r.Engine.Plan(r.Context(), Anna, ask); err != nil {
			r.Errorf("after the line was mended: %v", err)
		}
	})
}
