package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// aboutOurselves are questions that shardboard answers without the cluster: what it stored, who may
// sign in, and what it is.
var aboutOurselves = regexp.MustCompile(`^(/api(/v1)?)?/(openapi.json|` + strings.Join([]string{
	"find", "data.*", "history.*", "audit.*", "alerts.*", "runs.*", "plans.*", "me", "users.*", "tokens.*", "sessions.*",
	"settings.*", "help.*", "login.*",
	"healthz", "readyz", "static/.*", "live", "metrics", "history/step", "clusters.*", "actions.*", "problems/.*", "surveys.*", "docs.*",
	"lab.*",
}, "|") + `)$`)

// claims are what would be said of a cluster that was read.
var claims = regexp.MustCompile(`(?i)\b0 (of|chunks?|shards?|projects?|collections?|zones?|problems?|moves?|documents?|writes|databases|bytes|B)\b|` +
	`\bno (chunks|shards|projects|collections|zones|problems|moves|documents|writes|databases|jumbo|migrations|duplicates)\b|` +
	`\bthere (is|are) (none|no [a-z]+)\b|\bbalanced\b|\bnothing has happened|\bnothing moves|\bmatches? nothing|\bno such\b`)

// Everything that can be asked while nothing was ever read of the cluster: no answer claims to know
// something of it, and each says why nothing is known.
func TestWhatWasNeverReadIsUnknownEverywhere(t *testing.T) {
	for name, c := range map[string]struct {
		why     topology.Health
		history bool
		says    string
	}{
		"never reached":                  {webtest.NeverReached, false, "The cluster is not reached"},
		"never reached, with a history":  {webtest.NeverReached, true, "The cluster is not reached"},
		"reached, without any privilege": {webtest.ReachedWithoutRights, false, "The cluster user may not read the routing table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := webtest.Unreached(c.why)
			options := []func(*site.Deps){func(d *site.Deps) { d.PlanForms = true }}
			if c.history {
				v.Table.ClusterID = webtest.CannedTable(1, 250).ClusterID
				options = append(options, webtest.WithHistory(t))
			}
			s := webtest.New(t, options...)
			s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
			s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, v.Table.NotLoaded() }
			for _, rt := range web.Served(s.Deps) {
				if rt.Method == http.MethodGet && rt.Pattern != "/live" {
					checkUnknown(t, s, rt, webtest.AddressOf(rt.Pattern), c.says)
				}
			}
			for _, more := range []string{"/locate?q=wiki/handbook", "/projects?q=a", "/activity?kind=all&last=7d", "/map?ns=yorkie-meta.changes"} {
				checkUnknown(t, s, site.Route{Pattern: more, Tag: site.TagPages}, more, c.says)
			}
			for _, d := range actions.Descriptions() {
				path := answer.PlanURL(d.Kind, "ns", string(webtest.DocumentsNS), "project", webtest.ProjectID(5).Hex(), "shard", "shard-rs-1")
				checkUnknown(t, s, site.Route{Pattern: "form of a plan", Tag: site.TagPages}, path, c.says)
			}
		})
	}
}

func checkUnknown(t *testing.T, s *webtest.Server, rt site.Route, path, says string) {
	t.Helper()
	page := rt.Tag == site.TagPages && !strings.HasSuffix(rt.Pattern, ".csv")
	change := []func(*http.Request){}
	if page {
		change = append(change, webtest.Header("Accept", "text/html"))
	}
	w := s.Do("GET", path, change...)
	text := w.Body.String()
	own := aboutOurselves.MatchString(strings.TrimSuffix(rt.Pattern, ".csv"))
	switch {
	case w.Code == http.StatusInternalServerError:
		t.Errorf("%s: %d %.300s", path, w.Code, text)
	case page && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"):
		doc := webtest.ParseHTML(t, text)
		doc.Find("dialog, script, .keys, noscript").Remove()
		main := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
		if !strings.Contains(main, says) {
			t.Errorf("%s: %d does not say %q: %.300s", path, w.Code, says, main)
		}
		if at := claims.FindStringIndex(main); at != nil && !own {
			t.Errorf("%s claims …%s…", path, main[max(0, at[0]-80):min(len(main), at[1]+60)])
		}
	case own || w.Code == http.StatusSeeOther:
	case w.Code != http.StatusServiceUnavailable:
		t.Errorf("%s: %d %.200s", path, w.Code, text)
	case strings.HasSuffix(rt.Pattern, ".csv"): // people click on it: a page, which was checked if there is one
	default:
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != api.ProblemType || p.Detail == "" {
			t.Errorf("%s: %v %s", path, err, text)
		}
	}
}

// A cluster that was read, and is gone: every page says since when, and shows what was read as old.
func TestWhatIsShownOfAClusterThatIsGoneIsOldEverywhere(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	gone := *s.Watcher.Value
	gone.Health = map[topology.Part]topology.Health{}
	for _, p := range answer.AllParts {
		gone.Health[p] = topology.Health{At: webtest.Epoch.Add(-7 * time.Minute), Err: webtest.NeverReached.Err}
	}
	dir := s.Keeper.Value
	s.Watcher.Value, s.Keeper.Value = &gone, placement.NewDirectory(dir.Seq(), dir.Databases(), dir.All(), gone.Health[topology.PartRouting])
	for _, rt := range web.Served(s.Deps) {
		if rt.Method != http.MethodGet || rt.Pattern == "/live" {
			continue
		}
		path := webtest.AddressOf(rt.Pattern)
		page := rt.Tag == site.TagPages && !strings.HasSuffix(rt.Pattern, ".csv")
		change := []func(*http.Request){}
		if page {
			change = append(change, webtest.Header("Accept", "text/html"))
		}
		w := s.Do("GET", path, change...)
		text := w.Body.String()
		switch {
		case w.Code == http.StatusInternalServerError:
			t.Errorf("%s: %d %.300s", path, w.Code, text)
		case page && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"):
			if main := webtest.ParseHTML(t, text).Find("main").Text(); !strings.Contains(main,
				"The cluster does not answer. Pages show it as it was at ") {
				t.Errorf("%s: %d does not say that the cluster is gone", path, w.Code)
			}
		case w.Code == http.StatusOK && strings.Contains(text, `"stale":false`) && !aboutOurselves.MatchString(rt.Pattern):
			t.Errorf("%s says that it is new: %.300s", path, text)
		}
	}
}
