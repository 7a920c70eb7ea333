package alert

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
)

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
		if !bytes.Equal(want, pretty.Bytes()) {
			t.Errorf("%s differs from its golden file:\n%s", format, &pretty)
		}
	}
}

func TestASlackTestMessageSaysThatItIsATest(t *testing.T) {
	raw, err := testBatch(true).body(targetOf(Slack))
	if err != nil || !strings.Contains(string(raw), "[test] ") || strings.Contains(string(raw), "[critical]") {
		t.Errorf("unexpected message %s, error %v", raw, err)
	}
}
