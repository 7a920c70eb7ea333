package locate_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/simcluster"
	"shardboard/web/webtest"
)

// The server's own check is offered to operators from 7.0 on, and its findings are said in our words.
func TestTheMetadataIsCheckedOnRequest(t *testing.T) {
	o := simcluster.Options{Projects: 2, Documents: 5, Still: true, ServerVersion: "7.0"}
	webtest.OnBreakableCluster(t, o, func(f *webtest.BreakableServer) {
		const ns = "yorkie-meta.documents"
		check := func(body string, role auth.Role) (api.MetadataCheck, int) {
			w := f.Do("POST", "/api/v1/checks/metadata", webtest.Header("Content-Type", "application/json"), webtest.Body(body),
				webtest.As("anna", role))
			if w.Code != 200 {
				return api.MetadataCheck{}, w.Code
			}
			return webtest.Decode[api.MetadataCheck](f.T, w), w.Code
		}
		if got, code := check(`{}`, auth.Operator); code != 200 || len(got.Items) > 0 || got.Of != "" {
			f.Errorf("a sound cluster: %d %+v", code, got)
		}
		field := bson.D{{Key: "wrong", Value: 1}}
		_, err := f.Sim.Command(f.Context(), "config", bson.D{{Key: "insert", Value: "tags"}, {Key: "documents", Value: bson.A{bson.D{
			{Key: "_id", Value: bson.D{{Key: "ns", Value: ns}, {Key: "min", Value: field}}}, {Key: "ns", Value: ns},
			{Key: "min", Value: field}, {Key: "max", Value: bson.D{{Key: "wrong", Value: 2}}}, {Key: "tag", Value: "z"},
		}}}})
		f.Must(err)
		time.Sleep(time.Minute)
		got, _ := check(`{"ns":"`+ns+`"}`, auth.Operator)
		if len(got.Items) != 1 || got.Items[0].Kind != "CorruptedZoneShardKey" || got.Items[0].NS != ns ||
			!strings.Contains(got.Items[0].Text, "no values of the shard key") || !strings.Contains(got.Items[0].Details, "wrong") {
			f.Errorf("a zone's range that does not fit: %+v", got)
		}
		if got, code := check(`{"db":"nothing"}`, auth.Operator); code == 200 && len(got.Items) > 0 {
			f.Errorf("another database: %+v", got)
		}
		for body, want := range map[string]int{`{"ns":"nodot"}`: 400, `{"ns":"a.b","db":"a"}`: 400, `{"db":"$x"}`: 400} {
			if _, code := check(body, auth.Operator); code != want {
				f.Errorf("%s: %d, want %d", body, code, want)
			}
		}
		if _, code := check(`{}`, auth.Viewer); code != 403 {
			f.Errorf("a viewer: %d", code)
		}
		page := f.Do("POST", "/checks/metadata", append(formPost(url.Values{"ns": {ns}}), webtest.As("anna", auth.Operator))...).Body.String()
		if !strings.Contains(page, "1 contradiction in "+ns) || !strings.Contains(page, "CorruptedZoneShardKey") {
			f.Errorf("the page: %s", page)
		}
		if page := f.Do("GET", "/checks/metadata", webtest.As("anna", auth.Viewer)).Body.String(); !strings.Contains(page, "needs the role") {
			f.Error("a viewer is not told which role it needs")
		}
		page = f.Do("GET", "/advice", webtest.As("anna", auth.Viewer)).Body.String()
		if !strings.Contains(page, "/checks/metadata?ns="+ns) {
			f.Error("the problem does not lead to the check")
		}
	})
}
