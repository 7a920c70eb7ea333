package app

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
)

// Values that only some roles may see: a text that servers write into refusals and the
// changelog, and bounds of chunks and zone ranges.
const (
	canaryText  canary = "canary-t9-host-shard07.internal"
	canaryBound canary = "canary-b7-customer-name"
	canaryEdge  canary = "canary-e3-zone-edge"
)

// canaryHash64 is a chunk bound of a hashed key.
const canaryHash64 int64 = 4611686018427387123

var canaryID = bson.ObjectID{0xca, 0x4a, 0x41, 0x11, 0xfe, 0xed, 0xfa, 0xce, 0xbe, 0xef, 0x0b, 0x0b}

// boundSpellings returns all forms in which a page could show a bound.
func boundSpellings() []string {
	out := slices.Concat(canaryBound.encodings(), canaryEdge.encodings(),
		[]string{canaryID.Hex(), strings.ToUpper(canaryID.Hex()), strconv.FormatInt(canaryHash64, 10)})
	var hash [8]byte
	binary.LittleEndian.PutUint64(hash[:], uint64(canaryHash64))
	for _, raw := range [][]byte{canaryID[:], hash[:]} {
		out = append(out, hex.EncodeToString(raw))
		for skip := range 3 {
			for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				text := coding.EncodeToString(append(make([]byte, skip), raw...))
				out = append(out, text[4:len(text)-2])
			}
		}
	}
	return out
}

// allAddresses returns every GET address, with names that exist.
func (w *hiddenValues) allAddresses() []string {
	w.Helper()
	paths := documentedPaths(w.T, w.request("operator", "GET", "/api/openapi.json", "application/json", ""))
	project := w.app.current().only.now().keeper.Directory().All()[0].ID.Hex()
	var out []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if _, ok := paths[path]["get"]; !ok || strings.Contains(path, "/static/") || path == "/live" {
			continue
		}
		ids := []string{project}
		switch {
		case strings.Contains(path, "/plans/{id}"):
			ids = append([]string{w.plan}, w.plans...)
		case strings.Contains(path, "/runs/{id}"):
			ids = []string{w.run, w.split}
		}
		for _, id := range ids {
			for ns, ref := range map[string]string{hiddenNS: w.chunk, hashedNS: w.hash} {
				_, bound, _ := strings.Cut(ref, ".")
				one := strings.NewReplacer("{ref}", bound, "{name}", "shard-rs-1", "{ns}", ns, "{id}", id, "{survey}", "x").Replace(path)
				out = append(out, one)
				if !strings.Contains(path, "{ns}") {
					break
				}
			}
		}
	}
	at := strconv.FormatInt(w.before.UnixMilli(), 10)
	for _, path := range []string{"/collections/" + hiddenNS, "/api/v1/collections/" + hiddenNS + "/chunks", "/zones", "/activity",
		"/api/v1/activity"} {
		out = append(out, path+"?at="+at)
	}
	from, watched := "?from="+at, "watch=chunk:"+hiddenNS+":"+w.chunk
	return append(out, "/compare"+from, "/api/v1/history/compare"+from, "/api/v1/history"+from+"&ns="+hiddenNS,
		"/api/v1/history?limit=1000", "/activity?kind=all", "/activity?kind=all&failed=1", "/activity?ns="+hiddenNS, "/watch?"+watched,
		"/collections/"+hiddenNS+"?"+watched, "/collections/"+hiddenNS+"?q=canary", "/collections/"+hiddenNS+"?sort=bytes",
		"/api/v1/collections/"+hiddenNS+"/chunks?sort=bytes", "/api/v1/collections/"+hiddenNS+"/chunks?limit=1",
		"/api/v1/heat/map?ns="+hiddenNS, "/heat?ns="+hiddenNS, "/api/v1/heat/chunks?ns="+hiddenNS, "/api/v1/heat/range?ns="+hiddenNS,
		"/api/v1/collections/"+hiddenNS+"/map?level=1&index=1", "/api/v1/activity/migrations?ns="+hiddenNS,
		"/api/v1/activity/failures?ns="+hiddenNS, "/shards/shard-rs-1.csv")
}

// allAnswers returns what a role can read: the answer of every address and the first
// frame of every live topic.
func (w *hiddenValues) allAnswers(role string) map[string]string {
	w.Helper()
	said := map[string]string{}
	for _, target := range w.allAddresses() {
		accept := "text/html"
		if strings.HasPrefix(target, "/api/") {
			accept = "application/json"
		}
		said[target] = string(w.request(role, "GET", target, accept, ""))
	}
	topics := []string{"overview", "collections", "projects", "zones", "activity", "collection:" + hiddenNS, "shard:shard-rs-1",
		"project:" + w.app.current().only.now().keeper.Directory().All()[0].ID.Hex(), "run:" + w.run, "run:" + w.split}
	for topic, frame := range firstFrames(w.T, w.app, topics, http.Header{"X-Canary-User": {role}, "X-Canary-Role": {role}}) {
		said["live "+topic] = frame
	}
	return said
}

// firstFrames returns the first frame of each topic on a socket.
func firstFrames(t *testing.T, a *App, topics []string, header http.Header) map[string]string {
	t.Helper()
	header.Set("Origin", "http://"+a.Addr())
	conn, res, err := websocket.DefaultDialer.Dial("ws://"+a.Addr()+"/live?t="+strings.Join(topics, ","), header)
	must.That(t, err == nil, "unexpected error %v, response %v", err, res)
	defer conn.Close()
	out := map[string]string{}
	for len(out) < len(topics) {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		_, frame, err := conn.ReadMessage()
		must.That(t, err == nil, "after %d topics: %v", len(out), err)
		var f struct{ Topic string }
		must.Do(t, json.Unmarshal(frame, &f))
		if f.Topic != "" {
			out[f.Topic] = string(frame)
		}
	}
	return out
}

// answersWith returns the places whose answer contains one of the spellings.
func answersWith(said map[string]string, spellings []string) (places []string) {
	for place, text := range said {
		for _, s := range spellings {
			if i := strings.Index(text, s); i >= 0 {
				places = append(places, fmt.Sprintf("%s says %q: …%.220q", place, s, text[max(i-120, 0):]))
				break
			}
		}
	}
	slices.Sort(places)
	return places
}

func placesIn(told []string) (out []string) {
	for _, t := range told {
		place, _, _ := strings.Cut(t, " says ")
		out = append(out, place)
	}
	return out
}

func TestServerErrorsAndHiddenBoundsAreShownOnlyToAllowedRoles(t *testing.T) {
	only.Long(t, "starts a whole demo")
	w := newHiddenValues(t)
	said := map[string]map[string]string{}
	for _, role := range []string{"viewer", "support", "operator"} {
		said[role] = w.allAnswers(role)
	}
	w.checkServerErrorsAreForOperators(said)
	w.checkViewersGetNoBounds(said["viewer"], said["support"])
	w.checkViewersCannotLocateKeys()
	w.checkListsCanBePaged()
}

// checkServerErrorsAreForOperators checks that the cluster's answers to a run and its
// changelog texts are not shown to viewers and support, who see the kind of the failure
// instead.
func (w *hiddenValues) checkServerErrorsAreForOperators(all map[string]map[string]string) {
	w.Helper()
	t := w.T
	for _, role := range []string{"viewer", "support"} {
		said := all[role]
		for _, told := range answersWith(said, canaryText.encodings()) {
			t.Errorf("%s reads a server text: %s", role, told)
		}
		for _, place := range []string{"/runs/" + w.run, "/api/v1/runs/" + w.run, "live run:" + w.run} {
			expect.Contains(t, said[place],
				"The cluster refused to move the chunk: OperationFailed (96).", "%s: %s does not name the refused change", role, place)
		}
		for _, place := range []string{"/activity", "/api/v1/activity", "/api/v1/activity/failures?ns=" + hiddenNS, "live activity"} {
			expect.Contains(t, said[place],
				"ConflictingOperationInProgress (the server", "%s: %s does not name the kind of the failure", role, place)
		}
	}
	told := placesIn(answersWith(all["operator"], canaryText.encodings()))
	for _, place := range []string{"/runs/" + w.run, "/api/v1/runs/" + w.run, "live run:" + w.run, "/activity", "/api/v1/activity",
		"/api/v1/activity/migrations", "/api/v1/history?limit=1000", "live activity", "/audit"} {
		expect.That(t, slices.Contains(told, place), "%s does not show the server's text to operators", place)
	}
}

// checkViewersGetNoBounds checks that, with --hide-bounds, viewers get no key value in
// any page, answer, frame or address, and that support gets them all.
func (w *hiddenValues) checkViewersGetNoBounds(said, ofSupport map[string]string) {
	w.Helper()
	t := w.T
	for _, target := range w.allAddresses() { // errors and forms repeat values of the address
		if strings.Contains(target, w.chunk) || strings.Contains(target, "/chunks/") {
			_, chunk, _ := strings.Cut(w.chunk, ".")
			_, hash, _ := strings.Cut(w.hash, ".")
			said[target] = strings.NewReplacer(w.chunk, "", chunk, "", hash, "").Replace(said[target])
		}
	}
	for _, told := range answersWith(said, boundSpellings()) {
		t.Errorf("viewer: %s", told)
	}
	for _, place := range []string{"/collections/" + hiddenNS, "/api/v1/collections/" + hiddenNS + "/chunks", "/zones",
		"/api/v1/zones", "/activity", "live activity", "live zones",
		"/plans/" + w.plan, "/runs/" + w.run, "/api/v1/runs/" + w.split, "live run:" + w.run,
		"/compare?from=" + strconv.FormatInt(w.before.UnixMilli(), 10)} {
		expect.Contains(t, said[place], "hidden: needs the role support", "%s does not say that bounds are hidden", place)
	}
	told := placesIn(answersWith(ofSupport, boundSpellings()))
	for _, place := range []string{"/collections/" + hiddenNS, "/collections/" + hashedNS,
		"/api/v1/collections/" + hiddenNS + "/chunks", "/zones", "/api/v1/zones", "/activity", "live activity", "live zones",
		"/plans/" + w.plan, "/runs/" + w.run, "/api/v1/runs/" + w.split, "live run:" + w.split} {
		expect.That(t, slices.Contains(told, place), "%s shows support no bounds", place)
	}
}

// checkViewersCannotLocateKeys checks that viewers cannot locate keys, because the answers
// would reveal bounds.
func (w *hiddenValues) checkViewersCannotLocateKeys() {
	w.Helper()
	for _, target := range []string{"/collections/" + hiddenNS + "?key=x",
		"/api/v1/collections/" + hiddenNS + "/chunks?key=%7B%22k%22%3A1%7D", "/api/v1/collections/" + hiddenNS + "/chunks?from=%7B%22k%22%3A1%7D",
		"/api/v1/heat/range?ns=" + hiddenNS + "&min=%7B%22k%22%3A1%7D"} {
		body := string(w.request("viewer", "GET", target, "application/json", ""))
		expect.Contains(w, body, "role support", "%s answers a viewer", target)
	}
}

// checkListsCanBePaged checks that lists can be read to their end although their cursors
// contain no bound.
func (w *hiddenValues) checkListsCanBePaged() {
	w.Helper()
	seen, next := 0, ""
	for more := true; more && seen < 10; more = next != "" {
		var page api.List[struct{ Shard string }]
		w.decode(w.request("viewer", "GET", "/api/v1/collections/"+hiddenNS+"/chunks?limit=1&cursor="+next, "application/json", ""), &page)
		seen, next = seen+len(page.Items), string(page.Next)
	}
	expect.Equal(w, seen, 4, "chunks on all pages")
}
