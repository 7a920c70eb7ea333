package lab_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func TestPicturesOfTheLabAreFiles(t *testing.T) {
	s := webtest.New(t)
	for address, want := range map[string][]string{
		"/lab/keys.svg?rows=2000&shards=4":                      {"1: ", "{project_id: 1}", "shard 4", "per mille"},
		"/lab/ids.svg?inserts=500&shards=3":                     {"ObjectID", "shard 3"},
		"/lab/ids.svg?inserts=500&shards=3&kind=UUID+version+4": {"UUID version 4"},
		"/lab/growth.svg?add=2&growth=1":                        {"before", "grown", "shard-rs-1", "added-2"},
	} {
		w := s.Do("GET", address)
		must.That(t, w.Code == http.StatusOK && w.Header().Get("Content-Type") == "image/svg+xml", "%s: %d %s", address, w.Code, w.Body)
		svg := w.Body.String()
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
		}
		n := strings.Count(svg, "<rect class=\"s")
		expect.That(t, n >= 6, "%s: only %d bars", address, n)
		expect.ContainsAll(t, svg, want, "%s: the picture", address)
	}
	for address, says := range map[string]string{
		"/lab/ids.svg?kind=x":     "kind must be one of",
		"/lab/growth.svg?add=999": "add",
		"/lab/keys.svg?shards=0":  "shards",
	} {
		w := s.Do("GET", address)
		expect.That(t, w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), says), "%s: %d %s", address, w.Code, w.Body)
	}
}
