package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what leaves: receivers refuse what is longer, and a hostile name may
// be as long as MongoDB allows.
const (
	maxBatch   = 20 // Slack takes 50 blocks, and an alert has two
	maxTitle   = 300
	maxText    = 1500
	maxSubject = 300
)

// statusTest is the status of a test message.
const statusTest = "test"

// batch is the content of one message.
type batch struct {
	cluster string
	link    string
	at      time.Time
	repeat  time.Duration
	alerts  []Alert
	test    bool

	testOver bool // ends the test before, where it would stay open
}

// mostIn is how many alerts a message of a format has at most.
func mostIn(format string) int {
	if format == PagerDuty {
		return 1
	}
	return maxBatch
}

// body is the message in a target's format.
func (b batch) body(t Target) ([]byte, error) {
	switch t.Format {
	case PagerDuty:
		return b.pagerDuty(t.key())
	case Slack:
		return json.Marshal(b.slack())
	case Alertmanager:
		return json.Marshal(b.alertmanager())
	}
	return json.Marshal(b.generic())
}

type genericMessage struct {
	Version int            `json:"version"`
	Source  string         `json:"source"`
	Cluster string         `json:"cluster"`
	At      time.Time      `json:"at"`
	Test    bool           `json:"test,omitempty"`
	Alerts  []genericAlert `json:"alerts"`
}

type genericAlert struct {
	ID       string     `json:"id"`
	Event    string     `json:"event"` // the same each time that this message is tried
	Status   string     `json:"status"`
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Subject  string     `json:"subject"`
	Title    string     `json:"title"`
	Text     string     `json:"text"`
	Since    time.Time  `json:"since"`
	Resolved *time.Time `json:"resolved"`
	URL      string     `json:"url,omitempty"`
	Playbook string     `json:"playbook,omitempty"` // address of the page that says what to do
}

func (b batch) generic() genericMessage {
	out := genericMessage{Version: 1, Source: "shardboard", Cluster: b.cluster, At: b.at, Test: b.test, Alerts: []genericAlert{}}
	for _, a := range b.alerts {
		one := genericAlert{ID: a.ID, Event: b.event(a), Status: b.status(a), Rule: a.Rule, Severity: a.Severity,
			Subject: plain(a.Subject, maxSubject), Title: plain(a.Title, maxTitle), Text: plain(a.Text, maxText), Since: a.Since,
			URL: b.url(a), Playbook: b.playbook(a)}
		if !a.Resolved.IsZero() {
			one.Resolved = &a.Resolved
		}
		out.Alerts = append(out.Alerts, one)
	}
	return out
}

type alertmanagerAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// alertmanager sets endsAt so far ahead that a few lost messages do not resolve an
// alert. Without further messages, as when this process is gone, it resolves then.
func (b batch) alertmanager() []alertmanagerAlert {
	out := []alertmanagerAlert{}
	for _, a := range b.alerts {
		ends := b.at.Add(max(5*time.Minute, 3*b.repeat))
		if !a.Resolved.IsZero() {
			ends = a.Resolved
		}
		notes := map[string]string{"summary": plain(a.Title, maxTitle), "description": plain(a.Text, maxText)}
		if to := b.playbook(a); to != "" {
			notes["runbook_url"] = to // the name that Alertmanager's users and templates know
		}
		out = append(out, alertmanagerAlert{
			Labels: map[string]string{"alertname": "Shardboard" + camel(a.Rule), "rule": a.Rule, "severity": prometheusSeverity(a.Severity),
				"subject": plain(a.Subject, maxSubject), "cluster": b.cluster, "id": a.ID},
			Annotations: notes,
			StartsAt:    a.Fired, EndsAt: ends, GeneratorURL: b.url(a),
		})
	}
	return out
}

type slackMessage struct {
	Text        string       `json:"text"` // what notifications show
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
	LinkNames   bool         `json:"link_names"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

// slackText of type plain_text is shown as it is: nothing in it is a mention, a
// link or a format.
type slackText struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Emoji *bool  `json:"emoji,omitempty"`
}

func (b batch) slack() slackMessage {
	var titles []string
	out := slackMessage{Blocks: []slackBlock{}}
	no := false
	for _, a := range b.alerts {
		line := slackStatus(b.status(a), a.Severity) + plain(a.Title, maxTitle)
		titles = append(titles, line)
		if text := plain(a.Text, maxText); text != "" {
			line += "\n" + text
		}
		out.Blocks = append(out.Blocks, slackBlock{"section", slackText{"plain_text", line, &no}})
		if b.link == "" {
			continue
		}
		links := slackLink(b.url(a), "shardboard")
		if to := b.playbook(a); to != "" {
			links += " · " + slackLink(to, "playbook")
		}
		out.Blocks = append(out.Blocks, slackBlock{"section", slackText{Type: "mrkdwn", Text: links}})
	}
	out.Text = mrkdwn(strings.Join(titles, "\n"))
	return out
}

// slackLink is a link. An address has no "|": the paths of our pages are escaped.
func slackLink(to, text string) string { return "<" + mrkdwn(to) + "|" + text + ">" }

func slackStatus(status string, s Severity) string {
	switch status {
	case Firing:
		return "[" + string(s) + "] "
	default:
		return "[" + status + "] "
	}
}

// mrkdwn escapes the three characters that begin everything special in a Slack
// message: <!channel>, <@user>, links.
func mrkdwn(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// event names one announcement of an alert: its beginning, a change of its severity, its repetition or its end. Whoever
// gets it a second time, because the answer to the first came too late, can tell.
func (b batch) event(a Alert) string {
	sum := sha256.New()
	for _, part := range []string{b.cluster, a.ID, b.status(a), string(a.Severity), a.Since.UTC().Format(time.RFC3339Nano),
		a.announced.UTC().Format(time.RFC3339Nano)} {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

func (b batch) status(a Alert) string {
	if b.test {
		return statusTest
	}
	return a.State
}

func (b batch) url(a Alert) string {
	if b.link == "" {
		return ""
	}
	return b.link + a.Path
}

// playbook is the address of what to do about an alert; "" if there is none, or messages have no links.
func (b batch) playbook(a Alert) string {
	if b.link == "" || a.Playbook == "" {
		return ""
	}
	return b.link + a.Playbook
}

// plain is hostile text as one line of at most n characters, without invisible
// characters and without those that change the direction of writing. It is not
// sanitize.Line: receivers count characters, and some take the backslash of an
// escape for markup.
func plain(s string, n int) string {
	var out strings.Builder
	count := 0
	for _, r := range s {
		if count++; count > n {
			out.WriteString("…")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			r = '\uFFFD'
		}
		out.WriteRune(r)
	}
	return out.String()
}

// camel is a rule's name as a part of an alert's: hot-project is HotProject.
func camel(rule string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(rule, "-") {
		if part != "" {
			out.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return out.String()
}
