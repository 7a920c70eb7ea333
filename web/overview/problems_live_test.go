package overview_test

import (
	"strings"
	"testing"

	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// TestOverviewUpdatesWhenAProblemIsDismissed: a dismissal changes no table, and
// whoever looks at the overview sees it all the same.
func TestOverviewUpdatesWhenAProblemIsDismissed(t *testing.T) {
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	v := webtest.NewStory().With(func(t *topology.Table) { t.Balancer.Mode, t.Balancer.Stopped = "off", true }).View()
	watcher, keeper := &webtest.StubWatcher{}, &webtest.StubKeeper{}
	watcher.Value, keeper.Value = v.Table, v.Dir
	a := rules.NewAdvisor(rules.Sources{Tables: watcher, Directories: keeper, Profile: v.Profile, Notices: db})
	s := webtest.New(t, func(d *site.Deps) { d.Watcher, d.Keeper, d.Advice, d.Now = watcher, keeper, a, nil })
	told, stop := a.Subscribe()
	defer stop()
	var before, after strings.Builder
	render, _ := s.Fragment("overview")
	if err := render(t.Context(), &before, s.View()); err != nil {
		t.Fatal(err)
	}
	var id string
	for _, p := range a.Report().Items {
		if p.Rule == rules.BalancerOff {
			id = p.ID
		}
	}
	for len(told) > 0 {
		<-told
	}
	if err := a.Dismiss(t.Context(), id, "known", store.AuditEntry{By: "local"}); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 {
		t.Error("the hub is not told")
	}
	if err := render(t.Context(), &after, s.View()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(before.String(), `data-key="`+id+`"`) || strings.Contains(after.String(), `data-key="`+id+`"`) ||
		!strings.Contains(after.String(), "1 dismissed problem") {
		t.Error("the overview does not follow the decision")
	}
}
