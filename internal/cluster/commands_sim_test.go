package cluster_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// A sent command is the command of the step, followed by the comment, the time limit and
// the driver's fields.
func TestTheCommandOfAStepIsSent(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0.9", "8.0.12", "8.3"} {
		t.Run(release, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, line *counter) {
				info, err := c.Server(t.Context())
				must.Do(t, err)
				line.commands()
				for _, s := range change.Every() {
					want, err := s.Command(balance.ReleaseOf(info.Version))
					redistributes := s.Reshard != nil && s.Reshard.WasKey != nil
					if s.Days != "" && release != "8.3" || redistributes && release < "8.0" {
						continue // refused
					}
					must.Do(t, err)
					_ = s.Send(t.Context(), c, "the run", want) // refused or not
					sent := line.commands()
					if len(sent) != 1 || sent[0].DB != want.DB {
						t.Fatalf("%s: sent %v, shown %v", s.Op, sent, want)
					}
					body := want.Doc[4 : len(want.Doc)-1]
					if !slices.Equal(body, sent[0].Doc[4:4+len(body)]) {
						t.Errorf("%s: sent %v, shown %v", s.Op, sent[0].Doc, want.Doc)
					}
					rest, err := bson.Raw(sent[0].Doc).Elements()
					must.Do(t, err)
					own, err := want.Doc.Elements()
					must.Do(t, err)
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
