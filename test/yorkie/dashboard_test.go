package yorkie_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"shardboard/test/process"
)

// get reads one JSON answer of the dashboard.
func get(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", address, answer.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// checkDashboard starts the dashboard and checks that it shows all projects, and each
// document on the shard that explain names.
func checkDashboard(t *testing.T, bin, uri string, projects []string, s *sharded, documents []stored) {
	served := process.Start(t, bin, "serve", "--uri", uri, "--listen", "127.0.0.1:0", "--auth", "none", "--data-dir",
		t.TempDir(), "--audit-key", filepath.Join(t.TempDir(), "audit.key"))
	root := served.Line(t, `^shardboard is at (.*)/$`)
	process.Eventually(t, "readiness", func(ctx context.Context) error { return get(ctx, root+"/readyz", nil) })

	var list struct {
		Items []struct{ ID, Name string }
	}
	must(t, get(t.Context(), root+"/api/v1/projects", &list))
	shown := map[string]string{}
	for _, p := range list.Items {
		shown[p.ID] = p.Name
	}
	for _, want := range projects {
		found := false
		for _, name := range shown {
			found = found || name == want
		}
		if !found {
			t.Errorf("the dashboard does not show the project %s; it shows %v", want, shown)
		}
	}
	for _, d := range documents {
		checkLocated(t, root, shown[d.Project.Hex()], s, d)
	}
}

// checkLocated checks the located shards of a document and its changes.
func checkLocated(t *testing.T, root, project string, s *sharded, d stored) {
	t.Helper()
	var answer struct {
		Items []struct {
			Kind, ID string
			Places   []struct {
				NS, Shard string
				Exists    *bool
			}
		}
	}
	if err := get(t.Context(), root+"/api/v1/locate?q="+url.QueryEscape(project+"/"+d.Key), &answer); err != nil {
		t.Error(err)
		return
	}
	want := map[string]string{
		database + ".documents": s.target("documents", d.byProject()),
		database + ".changes":   s.target("changes", d.byDocument()),
	}
	for _, item := range answer.Items {
		if item.Kind != "document" || item.ID != d.ID.Hex() {
			continue
		}
		for _, place := range item.Places {
			if shard, ok := want[place.NS]; ok && shard == place.Shard {
				delete(want, place.NS)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("%s/%s is in %v; the dashboard says %+v", project, d.Key, want, answer.Items)
	}
}
