package app

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// While the cluster performs a run's move, the move is shown on every page that it
// concerns. After that it is shown only in the activity log, with its outcome.
func TestAMoveIsShownInFlightUntilItsRunEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	for _, release := range []string{"5.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			o := quietCluster()
			o.ServerVersion = release
			d := startWithActions(t, o)
			s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
			var chunks api.List[api.Chunk]
			d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?shard=shard-rs-1&limit=1", &chunks)
			chunk := chunks.Items[0]
			plan := s.plan("move", fmt.Sprintf(`{"ns":"yorkie-meta.changes","chunk":%q,"to":"shard-rs-2"}`, chunk.Ref))
			rule := d.sim.Faults().Add(simcluster.Rule{Command: "move", At: simcluster.Cloning, Hold: true})
			released := false
			defer func() {
				if !released {
					rule.Remove()
				}
			}()
			run := s.run(202, plan, "")
			d.waitForTable(t, "the move", func(table *topology.Table) bool {
				return len(table.Moves.List) == 1 && table.Moves.List[0].Steps+table.Moves.List[0].RecipientSteps > 0
			})
			var list api.List[api.InFlight]
			d.getJSON(t, "api/v1/activity/inflight", &list)
			if m := list.Items[0]; m.NS != "yorkie-meta.changes" || m.Ref != chunk.Ref || m.From != "shard-rs-1" || m.To != "shard-rs-2" ||
				m.By != "run" ||
				m.Run != run["id"] {
				t.Errorf("unexpected move: %+v", m)
			}
			var mover api.Run
			d.getJSON(t, "api/v1/runs/"+run["id"].(string), &mover)
			if len(mover.Moving) != 1 || mover.Moving[0].Ref != chunk.Ref || mover.Moving[0].To != "shard-rs-2" {
				t.Errorf("its run has the moves %+v", mover.Moving)
			}
			_, bound, _ := strings.Cut(chunk.Ref, ".")
			for _, path := range []string{"", "activity", "collections/yorkie-meta.changes",
				"collections/yorkie-meta.changes/chunks/" + bound, "shards/shard-rs-1", "shards/shard-rs-2", "runs/" + run["id"].(string)} {
				if _, body := d.get(t, path); !strings.Contains(string(body), `class="moves flights"`) {
					t.Errorf("/%s does not show the move", path)
				}
			}
			if _, body := d.get(t, "shards/shard-rs-3"); strings.Contains(string(body), `class="moves flights"`) {
				t.Error("an uninvolved shard shows the move")
			}
			rule.Remove()
			released = true
			if got := s.waitForRun(run); got["state"] != "succeeded" || len(got["moving"].([]any)) != 0 {
				t.Fatalf("unexpected moves: %v", got)
			}
			d.waitForTable(t, "its end", func(table *topology.Table) bool { return len(table.Moves.List) == 0 })
			var log api.List[api.Migration]
			d.getJSON(t, "api/v1/activity/migrations?ns=yorkie-meta.changes&limit=1", &log)
			if m := log.Items[0]; m.State != "done" && m.State != "committed" || m.To != "shard-rs-2" {
				t.Errorf("unexpected move: %+v", m)
			}
		})
	}
}
