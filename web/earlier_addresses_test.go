package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// earlierAddresses are the lines of the fixture: what is asked for, and its address.
func earlierAddresses(t *testing.T) (out [][2]string) {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/earlier_addresses.txt"))
	for line := range strings.Lines(string(text)) {
		if media, address, ok := strings.Cut(strings.TrimSpace(line), " "); ok && media != "#" {
			out = append(out, [2]string{media, address})
		}
	}
	if len(out) < 200 {
		t.Fatalf("only %d addresses", len(out))
	}
	return out
}

// Bookmarks and scripts have the addresses of earlier versions. Each answers as it did, or leads to what does.
func TestEarlierAddressesLeadToTheSameKindOfAnswer(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	// Without what they need these had no other answer: a parameter, or a run of the sign-in.
	refused := map[string]int{"/history/step": http.StatusBadRequest, "/api/v1/locate": http.StatusNotFound,
		"/api/v1/history/step": http.StatusBadRequest}
	for _, line := range earlierAddresses(t) {
		media, address := line[0], webtest.AddressOf(line[1])
		if media == "live" {
			continue
		}
		var w *httptest.ResponseRecorder
		for range 4 {
			if w = s.Do("GET", address, webtest.Header("Accept", media)); w.Code/100 != 3 {
				break
			}
			address = strings.TrimPrefix(w.Header().Get("Location"), "http://localhost:8090")
		}
		want := http.StatusOK
		if code, ok := refused[line[1]]; ok {
			want = code
		}
		if got := w.Header().Get("Content-Type"); w.Code != want || want == http.StatusOK && !strings.HasPrefix(got, media) {
			t.Errorf("%s %s: %d %s at %s: %.200s", media, line[1], w.Code, got, address, w.Body)
		}
	}
}

// Pages that were open before an upgrade ask for the topics that they know.
func TestEarlierLiveTopicsAreServed(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		for _, line := range earlierAddresses(t) {
			if line[0] != "live" {
				continue
			}
			kind, _, keyed := strings.Cut(line[1], ":")
			topic := line[1]
			if keyed {
				topic = kind + strings.TrimPrefix(webtest.AddressOf("/"+kind+"s/"+line[1][len(kind)+1:]), "/"+kind+"s")
				topic = strings.Replace(topic, "/", ":", 1)
			}
			w := l.Do("GET", "/live?poll=1&t="+topic)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"topic":"`+topic+`"`) {
				t.Errorf("%s: %d %.200s", topic, w.Code, w.Body)
			}
		}
	})
}
