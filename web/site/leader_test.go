package site_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// A change of the lead takes seconds and concerns nobody who looks at a page.
func TestPagesSayThatNobodyLeadsAfterAWhile(t *testing.T) {
	leader, now := store.Leader{Shared: true, Name: "other (process 7)", Since: webtest.Epoch}, webtest.Epoch
	x := newAiling(t, func(d *site.Deps) {
		d.Store.Leader = func() store.Leader { return leader }
		d.Now = func() time.Time { return now }
	})
	said := func() bool {
		return strings.Contains(strings.Join(x.banners(t, auth.Viewer), " "), "None of the shardboards that share this store leads")
	}
	state := func() api.DataDirectory {
		return webtest.Decode[api.DataDirectory](t, x.Do("GET", "/api/v1/data", webtest.As("anna", auth.Viewer)))
	}
	got := state()
	expect.That(t, !said() && !got.Leads && got.Leader != nil && got.Leader.Name == leader.Name, "a follower: %+v", got)
	leader.Name = ""
	now = now.Add(14 * time.Second)
	expect.That(t, !said(), "said before another one could lead")
	now = now.Add(time.Second)
	got = state()
	expect.That(t, said() && got.Leader != nil && got.Leader.Name == "", "nobody leads, and pages do not say so: %+v", got)
	x.lose()
	expect.That(t, !said(), "said twice: the store cannot be used")
}
