package zones_test

import (
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func TestZonesCountWhatIsOutside(t *testing.T) {
	s := webtest.New(t)
	got := webtest.Decode[api.List[api.Zone]](t, s.Do("GET", "/api/v1/zones"))
	must.That(t, len(got.Items) == 1 && got.Items[0].Zone == "eu" && len(got.Items[0].Shards) == 1 && len(got.Items[0].Ranges) == 1,
		"%+v", got)
	if r := got.Items[0].Ranges[0]; *r.Chunks != 3 || *r.Outside != 2 || *r.Straddling != 0 {
		t.Errorf("%d chunks, %d outside, %d straddling", *r.Chunks, *r.Outside, *r.Straddling)
	}
}
