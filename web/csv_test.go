package web_test

import (
	"encoding/csv"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/sheet"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestSpreadsheetsGetNoFormulas(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	formulas := []string{"=1+1", "+1+1", "-1+1", "@SUM(A1)"}
	sheets := map[string]string{
		"shard": s.Do("GET", "/shards/"+url.PathEscape(webtest.HostileName)+".csv").Body.String(),
		"api":   s.Do("GET", "/api/v1/shards/shard-rs-1", webtest.Header("Accept", "text/csv")).Body.String(),
		"list":  s.Do("GET", "/collections.csv").Body.String(),
		"locate": s.Do(
			"POST",
			"/api/v1/locate",
			webtest.Header("Accept", "text/csv"),
			webtest.Header("Content-Type", "application/json"),
			webtest.Body(`{"lines":["=1+1","+1+1","-1+1","@SUM(A1)"]}`),
		).Body.String(),
	}
	for name, text := range sheets {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 3 {
			t.Fatalf("%s: %v %.200s", name, err, text)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+@\t\r", rune(cell[0])) || strings.HasPrefix(cell, "-1+") {
					t.Errorf("%s: formula %q", name, cell)
				}
			}
		}
	}
	if !strings.Contains(sheets["shard"], "'=cmd|") {
		t.Errorf("the hostile name is missing: %.300s", sheets["shard"])
	}
	for _, f := range formulas {
		if got := sheet.Inert(f); got != "'"+f {
			t.Errorf("%q becomes %q", f, got)
		}
	}
	if got := sheet.Inert("\t=1\r"); got != `\t=1\r` {
		t.Errorf("control characters become %q", got)
	}
	if sheet.Inert("-42") != "-42" || sheet.Inert("a=b") != "a=b" || sheet.Inert("") != "" {
		t.Error("harmless cells are changed")
	}
	w := s.Do("GET", "/shards/shard-rs-1.csv")
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") ||
		w.Header().Get("Content-Disposition") != `attachment; filename="shard-rs-1.csv"` {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := s.Do("GET", "/shards/none.csv"); w.Code != 404 {
		t.Errorf("unknown shard: %d", w.Code)
	}
}

func TestAFailedPageOffersNoCSV(t *testing.T) {
	s := webtest.New(t)
	for address, status := range map[string]int{"/shards/nope": 404, "/zones?at=x": 400, "/runs?state=x": 400, "/zones": 200} {
		w := s.Do("GET", address)
		if w.Code != status || strings.Contains(w.Body.String(), ".csv") != (status == 200) {
			t.Errorf("%s: %d, want %d and a link to CSV only if 200", address, w.Code, status)
		}
	}
}

func TestShardNamesWithDotsHaveCSVToo(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Shards = append(table.Shards[:0:0], topology.Shard{Name: "rs.1"}, topology.Shard{Name: "rs.2.csv"})
	s.Watcher.Publish(&table)
	for address, media := range map[string]string{"/shards/rs.1": "text/html", "/shards/rs.1.csv": "text/csv",
		"/shards/rs.2.csv": "text/html", "/shards/rs.2.csv.csv": "text/csv"} {
		if w := s.Do("GET", address); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), media) {
			t.Errorf("%s: %d %s", address, w.Code, w.Header().Get("Content-Type"))
		} else if media == "text/html" && !strings.Contains(w.Body.String(), `href="`+address+`.csv" download`) {
			t.Errorf("%s has no link to its file", address)
		}
	}
}

func TestHostileNamesAreInertInJSON(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	for _, address := range []string{"/api/v1/shards", "/api/v1/projects", "/api/v1/activity", "/api/v1/locate?q=%3Cscript%3E",
		"/api/v1/shards/%3Cscript%3E"} {
		w := s.Do("GET", address)
		if strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%s has a raw tag", address)
		}
		if ct := w.Header().Get("Content-Type"); !strings.Contains(ct, "json") {
			t.Errorf("%s: %s", address, ct)
		}
	}
}
