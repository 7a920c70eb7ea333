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
)

// changesReported runs a plan that must be refused and returns the reported
// differences.
func (r *Rig) changesReported(p actions.Plan) []actions.Difference {
	r.Helper()
	_, _, err := r.RunPlan(Anna, p)
	var differs *engine.ChangedError
	if !errors.As(err, &differs) {
		r.Fatalf("%v, want what changed", err)
	}
	if n := len(r.Sim.Faults().Seen()); n != 0 {
		r.Errorf("%d commands were sent", n)
	}
	return differs.Differences
}

func changedFields(ds []actions.Difference) (out []string) {
	for _, d := range ds {
		out = append(out, d.Field)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestChangesSinceThePlanAreReportedFieldByField(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.moveByOther(0, 10, "shard-rs-3")
		_, _, err := r.RunPlan(Anna, p)
		var changed *engine.ChangedError
		if !errors.As(err, &changed) {
			r.Fatalf("%v", err)
		}
		fields := map[string]string{}
		for _, d := range changed.Differences {
			fields[d.Field] = d.Want + " → " + d.Got
		}
		if fields["shard"] != "shard-rs-1 → shard-rs-3" || fields["lastmod"] == "" {
			r.Errorf("%v", fields)
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			r.Errorf("%d commands sent", n)
		}
	})
}

// The change also makes a check block, but the difference is the more useful answer.
func TestPlanCarriedOutBySomebodyElseReportsWhatChanged(t *testing.T) {
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
				got := r.changesReported(p)
				if !slices.Equal(changedFields(got), c.want) {
					r.Errorf("changed %+v, want the fields %v", got, c.want)
				}
			})
		})
	}
}

func TestWrongHashAndExpiryAreReportedAsFields(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		for _, hash := range []string{"", "0000", strings.Repeat("x", 1000)} {
			other := p
			other.Hash = hash
			got := r.changesReported(other)
			if len(got) != 1 || got[0].Field != "hash" || got[0].Want != p.Hash || hash == "0000" && got[0].Got != hash || len(got[0].Got) > 100 {
				r.Errorf("%.10q: %+v", hash, got)
			}
		}
		time.Sleep(engine.Expiry)
		if got := r.changesReported(p); len(got) != 1 || got[0].Field != "expiresAt" ||
			got[0].Want != p.Expires.Format(time.RFC3339) {
			r.Errorf("expired: %+v", got)
		}
	})
}
