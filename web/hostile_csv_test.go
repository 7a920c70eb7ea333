package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/sheet"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// starts are what spreadsheets take for the beginning of a formula or for the
// end of a cell, after what they strip or fold, too.
var starts = []string{
	"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "  @x", "\u00a0=1", "\ufeff=1", "\u200b=1", "\u3000=1",
	"\u202e=1", "\x00=1", "\x0b=1", "'\n=1", "\u2212" + "1", "\"=1",
	"\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "|calc", "%0A=1", ";=1", ",=1", "a\n=1", "a\r\n=1,2", "-", "=", "--1", "-1e5x", "-1 2", "-x",
}

// mayRun tells that a spreadsheet could take a cell for a formula.
func mayRun(cell string) bool {
	trimmed := strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
	})
	if strings.ContainsAny(cell, "\x00\r\n\t\x0b") {
		return true // what comes after may be taken for a cell of its own
	}
	r := []rune(trimmed + "x")[0]
	if _, err := strconv.ParseFloat(trimmed, 64); err == nil && r == '-' {
		return false // a negative number
	}
	return strings.ContainsRune("=+-@|\uff1d\uff0b\uff0d\uff20\u2212", r)
}

func TestNoSheetHoldsAFormula(t *testing.T) {
	all := append(payloads(t), starts...)
	if testing.Short() {
		all = append(all[:24], starts...)
	}
	cells := 0
	var said strings.Builder
	for n, batch := range batches(all) {
		e := enemy{payloads: batch}
		s, _ := e.site(t)
		for i := n % 2; i < len(batch); i += 2 {
			lines := must.Get(json.Marshal(map[string][]string{"lines": {e.name(i, "asked"), e.name(i, "refused")}}))
			name := url.PathEscape(e.name(i, "shard"))
			for _, w := range []*httptest.ResponseRecorder{
				s.Do("GET", "/shards/"+name+".csv"), s.Do("GET", "/api/v1/shards/"+name, webtest.Header("Accept", "text/csv")), s.Do("GET",
					"/collections.csv"),
				s.Do("POST", "/api/v1/locate", webtest.Header("Accept", "text/csv"), webtest.Header("Content-Type", "application/json"),
					webtest.Body(string(lines))),
				s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
					webtest.Body(url.Values{"lines": {e.name(i, "asked")}, "as": {"csv"}, "format": {"csv"}}.Encode()), webtest.Header("Accept",
						"text/csv")),
			} {
				if w.Code == http.StatusBadRequest && strings.Contains(batch[i], "\x00") {
					continue
				}
				cells += e.checkSheet(t, w, &said)
			}
			for _, sink := range []string{"shard", "document"} {
				if name := sanitize.Line(e.name(i, sink)); !strings.Contains(said.String(), name) && !strings.Contains(name, `\u{0000}`) {
					t.Errorf("%q is in no sheet", name)
				}
			}
			said.Reset()
		}
	}
	for _, f := range starts {
		if got := sheet.Inert(f); mayRun(got) || got == f && mayRun(f) {
			t.Errorf("%q becomes %q", f, got)
		}
	}
	if cells < 1_000 {
		t.Errorf("only %d cells", cells)
	}
}

func (e enemy) checkSheet(t *testing.T, w *httptest.ResponseRecorder, said *strings.Builder) (cells int) {
	t.Helper()
	media, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if w.Code != http.StatusOK || media != site.MediaCSV || err != nil || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %s: %.200s", w.Code, media, w.Body)
		return 0
	}
	disposition, params, err := mime.ParseMediaType(w.Header().Get("Content-Disposition"))
	if err != nil || disposition != "attachment" ||
		strings.Trim(params["filename"], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" ||
		!strings.HasSuffix(params["filename"], ".csv") {
		t.Errorf("the file is called %q: %v", w.Header().Get("Content-Disposition"), err)
	}
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	if err != nil {
		t.Errorf("not CSV: %v", err)
	}
	for _, row := range rows {
		for _, cell := range row {
			cells++
			if mayRun(cell) {
				t.Errorf("formula %q", cell)
			}
			said.WriteString(cell + "\n")
		}
	}
	return cells
}

// internals is what no answer to a failure may hold: Go's types and traces,
// paths of files, the driver's words and the cluster's inner addresses.
var internals = regexp.MustCompile(
	`goroutine \d+|\.go:\d+|\*?(errors|fault|bson|mongo|topology|placement|http|json|url|strconv|context)\.[A-Z]\w+|runtime error|panic|/usr/|/home/|/root/|0x[0-9a-f]{6,}|nil pointer|invalid character|cannot unmarshal|strconv\.|parse "|topology: |server selection|connection\(|dial tcp|mongodb://|inner\.example`,
)

func TestErrorPagesHideInternalErrors(t *testing.T) {
	s := webtest.New(t)
	causes := []func() error{
		func() error {
			return errors.New("connection(inner.example:27017[-5]) socket was unexpectedly closed: EOF")
		},
		func() error { return fmt.Errorf("read: %w", context.DeadlineExceeded) },
		func() error { return fmt.Errorf("%s", debug.Stack()) },
		func() error { return []error{}[len(s.Log.String())] }, // out of range
		func() error { var d *bson.ObjectID; _ = d.Hex(); return nil },
		func() error { panic(errors.New("dial tcp inner.example: mongodb://u:p@inner.example")) },
	}
	for i, cause := range causes {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, cause() }
		for _, address := range []string{"/locate?q=x", "/api/v1/locate?q=x"} {
			w := s.Do("GET", address)
			if w.Code < 500 || internals.MatchString(w.Body.String()) {
				t.Errorf("cause %d at %s: %d, %q", i, address, w.Code, internals.FindString(w.Body.String()))
			}
		}
	}
}
