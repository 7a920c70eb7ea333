package answer_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/shares"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestUnknownSubjectsAreNotFoundAndSayWhatWasSearched(t *testing.T) {
	v, p := webtest.NewStory().View(), profile.Yorkie()
	_, project := answer.FindProject(v, "", bson.NewObjectID())
	_, shard := shares.Shard(v, p, "nope", false)
	_, coll := data.ShardedCollection(v.Table, "nope.nope")
	_, unsharded := data.ShardedCollection(v.Table, "yorkie-meta.users")
	for name, err := range map[string]error{"searched: 60": project, "shard-rs-3": shard, "nope.nope": coll, "shard-rs-1": unsharded} {
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), name) {
			t.Errorf("%v does not mention %s", err, name)
		}
	}
	empty := answer.View{Table: &topology.Table{}, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}
	refused.As(t, must.Err(answer.FindProject(empty, "", bson.NewObjectID())), fault.Unavailable, "before the first read")
}
