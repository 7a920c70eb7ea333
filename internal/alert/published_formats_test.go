package alert

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// strict decodes one JSON value that has no other fields than the published ones.
func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// checkPagerDuty holds an event to PagerDuty's Events API v2.
func checkPagerDuty(body []byte) error {
	var e struct {
		RoutingKey string `json:"routing_key"`
		Action     string `json:"event_action"`
		DedupKey   string `json:"dedup_key"`
		Payload    *struct {
			Summary   string            `json:"summary"`
			Source    string            `json:"source"`
			Severity  string            `json:"severity"`
			Timestamp time.Time         `json:"timestamp"`
			Component string            `json:"component"`
			Group     string            `json:"group"`
			Class     string            `json:"class"`
			Details   map[string]string `json:"custom_details"`
		} `json:"payload"`
		Client    string `json:"client"`
		ClientURL string `json:"client_url"`
		Links     []struct {
			Href string `json:"href"`
			Text string `json:"text"`
		} `json:"links"`
	}
	if err := strict(body, &e); err != nil {
		return err
	}
	switch {
	case len(e.RoutingKey) != 32:
		return fmt.Errorf("routing key of %d characters", len(e.RoutingKey))
	case e.DedupKey == "" || len(e.DedupKey) > 255:
		return fmt.Errorf("dedup key %q", e.DedupKey)
	case e.Action == "resolve" && e.Payload == nil:
		return nil
	case e.Action != "trigger":
		return fmt.Errorf("event action %q", e.Action)
	case e.Payload == nil:
		return fmt.Errorf("no payload")
	case e.Payload.Summary == "" || utf8.RuneCountInString(e.Payload.Summary) > 1024 || e.Payload.Source == "":
		return fmt.Errorf("summary %q, source %q", e.Payload.Summary, e.Payload.Source)
	case e.Payload.Severity != "critical" && e.Payload.Severity != "error" && e.Payload.Severity != "warning" && e.Payload.Severity != "info":
		return fmt.Errorf("severity %q", e.Payload.Severity)
	case len(body) > 512<<10:
		return fmt.Errorf("%d bytes", len(body))
	}
	return nil
}

// checkSlack holds a message to Slack's incoming webhooks and Block Kit.
func checkSlack(body []byte) error {
	var m struct {
		Text   string `json:"text"`
		Blocks []struct {
			Type string `json:"type"`
			Text struct {
				Type  string `json:"type"`
				Text  string `json:"text"`
				Emoji *bool  `json:"emoji"`
			} `json:"text"`
		} `json:"blocks"`
		UnfurlLinks bool `json:"unfurl_links"`
		UnfurlMedia bool `json:"unfurl_media"`
		LinkNames   bool `json:"link_names"`
	}
	if err := strict(body, &m); err != nil {
		return err
	}
	if m.Text == "" || utf8.RuneCountInString(m.Text) > 40_000 || len(m.Blocks) == 0 || len(m.Blocks) > 50 || m.LinkNames {
		return fmt.Errorf("text of %d bytes, %d blocks", len(m.Text), len(m.Blocks))
	}
	for _, b := range m.Blocks {
		n := utf8.RuneCountInString(b.Text.Text)
		if b.Type != "section" || n == 0 || n > 3000 || b.Text.Type != "plain_text" && b.Text.Type != "mrkdwn" ||
			b.Text.Type == "mrkdwn" && b.Text.Emoji != nil { // only plain text has it
			return fmt.Errorf("block %+v", b)
		}
	}
	return nil
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// checkAlertmanager holds alerts to Alertmanager's API v2: PostableAlerts.
func checkAlertmanager(body []byte) error {
	var list []struct {
		Labels       map[string]string `json:"labels"`
		Annotations  map[string]string `json:"annotations"`
		StartsAt     time.Time         `json:"startsAt"`
		EndsAt       time.Time         `json:"endsAt"`
		GeneratorURL string            `json:"generatorURL"`
	}
	if err := strict(body, &list); err != nil {
		return err
	}
	for _, a := range list {
		for _, set := range []map[string]string{a.Labels, a.Annotations} {
			for name, value := range set {
				if !labelName.MatchString(name) || !utf8.ValidString(value) {
					return fmt.Errorf("label %s=%q", name, value)
				}
			}
		}
		if u, err := url.Parse(a.GeneratorURL); err != nil || a.GeneratorURL != "" && !u.IsAbs() {
			return fmt.Errorf("generatorURL %q", a.GeneratorURL)
		}
		if a.Labels["alertname"] == "" || a.StartsAt.IsZero() || a.EndsAt.Before(a.StartsAt) {
			return fmt.Errorf("alert %q from %s to %s", a.Labels["alertname"], a.StartsAt, a.EndsAt)
		}
	}
	return nil
}

func checkGeneric(body []byte) error {
	var m genericMessage
	return strict(body, &m)
}

// published checks the messages of each format, and answers as its receiver does.
var published = map[string]struct {
	check  func([]byte) error
	status int
}{
	Generic: {checkGeneric, 204}, Slack: {checkSlack, 200}, Alertmanager: {checkAlertmanager, 200}, PagerDuty: {checkPagerDuty, 202},
}

// strictReceiver refuses what is not in the published format, and keeps all messages.
type strictReceiver struct {
	*httptest.Server
	mu       sync.Mutex
	messages []string
	problems []error
}

func newStrictReceiver(t *testing.T, format string) *strictReceiver {
	t.Helper()
	r := &strictReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = published[format].check(body)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.messages = append(r.messages, string(body))
		if err != nil || req.Header.Get("Content-Type") != "application/json" {
			r.problems = append(r.problems, fmt.Errorf("%w: %s", err, body))
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(published[format].status)
	}))
	t.Cleanup(r.Close)
	return r
}

func TestEveryFormatIsAsItsReceiverPublishesItThroughAnAlertsLife(t *testing.T) {
	for _, format := range Formats() {
		r := newStrictReceiver(t, format)
		w := &world{}
		now := start
		e := engineTo(t, r.URL, format)
		e.config.Link = "https://shardboard.example"
		e.observe, e.o.Now = w.observe, func() time.Time { return now }
		sendAll := func() {
			t.Helper()
			must.Do(t, e.Check(t.Context()))
			for {
				out, some := e.sendDue(t.Context(), e.targets[0])
				if !some {
					return
				}
				must.That(t, out.ok(), "%s: refused: %v", format, r.problems)
			}
		}
		for i := range 25 {
			n := notice(fmt.Sprint("id", i), []Severity{Warn, Critical}[i%2])
			n.Subject, n.Title, n.Text = hostile, hostile, strings.Repeat(hostile, 100)
			w.notices = append(w.notices, n)
		}
		sendAll()
		now = now.Add(3 * time.Minute)
		sendAll() // firing
		fired := len(r.messages)
		w.setNotices()
		sendAll()
		now = now.Add(3 * time.Minute)
		sendAll() // resolved
		if want := map[string]int{PagerDuty: 25}[format]; fired < max(want, 2) || len(r.messages) != 2*fired {
			t.Errorf("%s: %d messages for 25 alerts, %d with their ends", format, fired, len(r.messages))
		}
		if _, err := e.Test(t.Context(), "ops", byAnna()); err != nil || e.targets[0].last.Code != "ok" {
			t.Errorf("%s: test: %v, %+v", format, err, e.targets[0].last)
		}
		for _, m := range r.messages {
			expect.Contains(t, m, "https://shardboard.example/", "%s: the link", format)
		}
	}
}

func TestPagerDutyEventsOfAnAlertHaveOneKeyAndATestEndsItself(t *testing.T) {
	b := batch{cluster: "c1", at: start,
		alerts: []Alert{{Notice: Notice{ID: strings.Repeat("x", 300), Severity: Warn, Title: "t"}, State: Firing, Fired: start}}}
	read := func() (e pagerDutyEvent) {
		body, err := b.body(targetOf(PagerDuty))
		if err == nil {
			err = checkPagerDuty(body)
		}
		must.Do(t, err)
		must.Do(t, json.Unmarshal(body, &e))
		return e
	}
	began := read()
	b.alerts[0].State, b.alerts[0].Resolved = Resolved, start.Add(time.Minute)
	ended := read()
	if began.Action != "trigger" || ended.Action != "resolve" || began.DedupKey != ended.DedupKey || began.Payload.Severity != "warning" {
		t.Errorf("began %+v, ended %+v", began, ended)
	}
	b.cluster = "c2"
	expect.That(t, read().DedupKey != began.DedupKey, "alerts of two clusters have one key")
	r := newStrictReceiver(t, PagerDuty)
	e := engineTo(t, r.URL, PagerDuty)
	if code, _ := sendTest(t, e); code != "ok" || len(r.messages) != 2 || !strings.Contains(r.messages[0], `"trigger"`) ||
		!strings.Contains(r.messages[1], `"resolve"`) {
		t.Errorf("a test is %s, sent as %v", code, r.messages)
	}
}

func TestAPagerDutyReceiverNeedsAKeyFromAFileOrTheEnvironment(t *testing.T) {
	t.Setenv("ALERT_KEY", testKey)
	t.Setenv("BAD_KEY", "CANARY")
	for line, good := range map[string]bool{
		"format: pagerduty, key_env: ALERT_KEY":                                              true,
		"format: pagerduty":                                                                  false,
		"format: pagerduty, key: " + testKey:                                                 false,
		"format: pagerduty, key_env: BAD_KEY":                                                false,
		"format: pagerduty, key_env: NOT_SET":                                                false,
		"format: pagerduty, key_file: /none/CANARY":                                          false,
		"format: pagerduty, key_file: /x, key_env: ALERT_KEY":                                false,
		"format: slack, url: \"https://x.example\", key_env: ALERT_KEY":                      false,
		"format: pagerduty, key_env: ALERT_KEY, url: \"https://events.eu.pagerduty.com/v2\"": true,
	} {
		c, err := Parse("a.yaml", []byte("targets:\n- {name: ops, "+line+"}\n"))
		expect.Equal(t, good, (err == nil), "%s: error %v", line, err)
		expect.Lacks(t, fmt.Sprintf("%v %+v", err, c), "CANARY", "%s: a key is shown", line)
		if good && (c.inline || c.Targets[0].key() != testKey) {
			t.Errorf("%s: the file counts as a secret, or the key is lost", line)
		}
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, " 5 ": 5 * time.Second, "-1": 0, "99999999": longestWait, "soon": 0,
		start.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		start.Add(-time.Hour).Format(http.TimeFormat):       0,
		start.Add(100 * time.Hour).Format(http.TimeFormat):  longestWait,
	} {
		expect.Equal(t, retryAfter(text, start), want, "%q", text)
	}
}

var update = flag.Bool("update", false, "write golden files")

// hostile is a name with markup, mentions and invisible characters of every format.
const hostile = "<!channel> <@U123|x> <https://evil.example|click> & *bold* `x`\n@here \u202etxt.exe\u202c \x00\x1b[31m \"quote\" " +
	"{{.}} \u2028"

func testBatch(test bool) batch {
	a := Alert{
		Notice: Notice{ID: "jumbo.0a1b2c", Rule: "zone-no-shard", Severity: Critical, Subject: hostile, Title: "No shard carries " + hostile,
			Text: strings.Repeat("long ", 400) + hostile, Path: "/advice#jumbo.0a1b2c", Playbook: "/help/jumbo-chunk"},
		State: Firing,
		Since: start,
		Fired: start.Add(2 * time.Minute),
	}
	b := a
	b.ID, b.Severity, b.State, b.Resolved, b.Text = "jumbo.9z", Warn, Resolved, start.Add(time.Hour), ""
	return batch{
		cluster: "65e1c0ffee00000000000001",
		link:    "https://shardboard.example",
		at:      start.Add(time.Hour),
		repeat:  time.Minute,
		alerts:  []Alert{a, b},
		test:    test,
	}
}

// testKey is a routing key that must appear only in requests.
const testKey = "CANARY00000000000000000000000000"

func targetOf(format string) Target {
	return Target{Name: "ops", Format: format, key: newSecret(testKey)}
}

// The files show how hostile names are escaped in each format.
func TestMessagesMatchTheirGoldenFiles(t *testing.T) {
	for _, format := range Formats() {
		raw, err := testBatch(false).body(targetOf(format))
		must.Do(t, err)
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, raw, "", "  "); err != nil {
			t.Fatalf("%s is no JSON: %v", format, err)
		}
		pretty.WriteByte('\n')
		path := "testdata/" + format + ".golden.json"
		if *update {
			must.Do(t, os.WriteFile(path, pretty.Bytes(), 0o644))
		}
		want := must.Get(os.ReadFile(path))
		expect.That(t, bytes.Equal(want, pretty.Bytes()), "%s differs from its golden file:\n%s", format, &pretty)
	}
}

func TestASlackTestMessageSaysThatItIsATest(t *testing.T) {
	raw, err := testBatch(true).body(targetOf(Slack))
	if err != nil || !strings.Contains(string(raw), "[test] ") || strings.Contains(string(raw), "[critical]") {
		t.Errorf("unexpected message %s, error %v", raw, err)
	}
}
