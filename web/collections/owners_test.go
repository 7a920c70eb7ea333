package collections_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

const ownersNS = "yorkie-meta.documents"

func TestACollectionsPageLeadsToWhereItsDataHasBeen(t *testing.T) {
	o := simcluster.Options{Projects: 4, Documents: 40, Still: true, ServerVersion: "8.0"}
	webtest.OnBreakableCluster(t, o, func(f *webtest.BreakableServer) {
		link := "/collections/" + ownersNS + "/owners"
		viewer := webtest.As("anna", auth.Viewer)
		if page := f.Do("GET", "/collections/"+ownersNS, viewer).Body.String(); !strings.Contains(page, `href="`+link+`"`) {
			f.Error("the collection's page does not lead there")
		}
		first := webtest.Decode[api.Owners](f.T, f.Do("GET", api.Prefix+link, viewer))
		must.That(f, first.Known && first.Reason == "" && len(first.Items) != 0 && !first.Items[0].Earlier && len(first.Items[0].Shards) != 0,
			"%+v", first)
		since := time.Now().UTC().Truncate(time.Second)
		row := func(n int, shards any, uuid string) bson.D {
			return bson.D{{Key: "_id", Value: n}, {Key: "nss", Value: ownersNS}, {Key: "shards", Value: shards},
				{Key: "timestamp", Value: bson.Timestamp{T: uint32(since.Unix()) + uint32(n)}},
				{Key: "uuid", Value: bson.Binary{Subtype: 4, Data: []byte(uuid)}}}
		}
		_, err := f.Sim.Command(f.Context(), "config", bson.D{{Key: "insert", Value: "placementHistory"},
			{Key: "documents", Value: bson.A{
				row(0, bson.A{"shard-rs-3"}, "another one: 16."), row(1, bson.A{}, "another one: 16."), row(2, "rubbish", "another one: 16.")}}})
		f.Must(err)
		got := webtest.Decode[api.Owners](f.T, f.Do("GET", api.Prefix+link, viewer))
		expect.That(f, len(got.Items) == len(first.Items)+2 && got.Unreadable == 1 && got.Items[0].Earlier && len(got.Items[0].Shards) == 0 &&
			got.Items[1].Since.Equal(since) && got.Items[1].Shards[0] == "shard-rs-3", "%+v", got)
		page := f.Do("GET", link, viewer).Body.String()
		expect.ContainsAll(f, page, []string{"None: it was dropped.", "an earlier collection of this name", "1 row is not understood",
			"/shards/shard-rs-3"}, "the page")
		expect.Equal(f, f.Do("GET", api.Prefix+"/collections/yorkie-meta.none/owners", viewer).Code, 404, "an unknown collection")
	})
}

type refusedOwners struct{ err error }

func (r refusedOwners) Owners(context.Context, topology.Namespace) ([]topology.OwnersRow, bool, error) {
	return nil, false, r.err
}

func TestOwnersThatAreNotKnownAreSaidToBe(t *testing.T) {
	for _, tc := range []struct {
		name, version, want string
		err                 error
	}{
		{"an older release", "6.0.4", "not known before MongoDB 7.0", nil},
		{"not permitted", "8.0.10", "needs find on config.placementHistory",
			fault.New(fault.Forbidden, "This needs find on config.placementHistory.")},
	} {
		s := webtest.New(t, func(d *site.Deps) { d.Locate.Owners = refusedOwners{tc.err} })
		s.Watcher.Value.ServerInfo.Version = tc.version
		got := webtest.Decode[api.Owners](t, s.Do("GET", api.Prefix+"/collections/"+ownersNS+"/owners"))
		expect.That(t, !got.Known && len(got.Items) == 0 && strings.Contains(got.Reason, tc.want), "%s: %+v", tc.name, got)
		page := s.Do("GET", "/collections/"+ownersNS+"/owners").Body.String()
		expect.That(t, strings.Contains(page, "Not known.") && strings.Contains(page, tc.want) && !strings.Contains(page, "recorded nothing"),
			"%s: the page does not say it", tc.name)
	}
}
