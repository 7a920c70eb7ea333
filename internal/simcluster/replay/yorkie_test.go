package replay

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// Every kind of request of Yorkie is answered on Yorkie's layout with all fields of the
// real reply. The recording is incomplete, so the found documents are not compared.
func TestEveryKindOfYorkieRequestIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, "yorkie", simcluster.Options{Projects: 2, Documents: 5, Still: true, Epoch: time.Unix(1795274561, 0)})
		defer p.close()
		for _, coll := range []string{"clusternodes", "projects", "users"} {
			p.mustRun("yorkie-meta", bson.D{{Key: "delete", Value: coll}, {Key: "deletes", Value: bson.A{
				bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}},
			}}})
		}
		answered := 0
		for _, s := range recording(t, "yorkie") {
			reply := p.run(s.DB, p.request(s))
			first, failed := reply.Lookup("writeErrors", "0").DocumentOK()
			switch {
			case !ok(reply):
				t.Errorf("%d %s: %s", s.N, truncate(s.Cmd.String()), reply)
				continue
			case failed && strings.Contains(first.Lookup("errmsg").StringValue(), "index: secret_key_1"):
				// The recording has the same text for every secret.
			case failed:
				t.Errorf("%d %s: %s", s.N, truncate(s.Cmd.String()), first)
			}
			answered++
			want, _ := s.Reply.Document().Elements()
			for _, e := range want {
				// Whether an update upserts depends on documents that were not recorded.
				if _, err := reply.LookupErr(e.Key()); e.Key() != "upserted" && err != nil {
					t.Errorf("%d %s: the reply has no %s", s.N, s.name(), e.Key())
				}
			}
		}
		t.Logf("yorkie: %d requests answered", answered)
	})
}
