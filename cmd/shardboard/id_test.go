package main

import (
	"encoding/json"
	"strings"
	"testing"

	"shardboard/internal/api"
)

func TestIDsAreMadeAgainFromTheirFields(t *testing.T) {
	again := []string{"id", "--count=4", "--time=1367111039966", "--process=31359", "--mac=d:53:7a:50", "--counter=2417483735"}
	code, out, errs := shardboard(t, again...)
	want := "c8c9cef9-7a7f-bd53-7a50-013e4e2afbde\n14951cfa-7a7f-bd53-7a50-013e4e2afbde\n" +
		"6f5169fb-7a7f-bd53-7a50-013e4e2afbde\nba2da6fc-7a7f-bd53-7a50-013e4e2afbde\n"
	if code != 0 || out != want {
		t.Errorf("exit %d, %s\n%s", code, errs, out)
	}
	code, out, errs = shardboard(t, "id", "--mode=sequential", "--time=2013-04-28T01:04:00.038Z", "--output=csv")
	if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[1], "f5166776-") ||
		!strings.Contains(lines[1], ",sequential,4111886198,") {
		t.Errorf("exit %d, %s\n%s", code, errs, out)
	}
}

func TestIDsOfThisMachineDiffer(t *testing.T) {
	code, out, _ := shardboard(t, "id", "-n", "1000")
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		seen[line] = true
	}
	if code != 0 || len(seen) != 1000 {
		t.Errorf("exit %d, %d different ids", code, len(seen))
	}
}

func TestAnIDIsTakenApart(t *testing.T) {
	code, out, errs := shardboard(t, "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2", "F516677A-7A7F-BD53-7A50-013E4E2AFC26", "-o", "json")
	var list struct{ Items []api.LocalityID }
	if code != 0 || json.Unmarshal([]byte(out), &list) != nil || len(list.Items) != 2 {
		t.Fatalf("exit %d, %s\n%s", code, errs, out)
	}
	first, second := list.Items[0], list.Items[1]
	if first.Mode != "unknown" ||
		first.Counter != 3_488_672_514 || first.Process != 12_618 || first.UnixMillis != 1_350_327_498_450 || first.MAC != "__:__:_d:53:7a:50" ||
		first.Time.Format("2006-01-02T15:04:05.000Z") != "2012-10-15T18:58:18.450Z" || first.Window != nil {
		t.Errorf("default mode: %+v", first)
	}
	if second.Mode != "sequential" || second.Counter != 0xf516677a || second.Number == nil || *second.Number != 5 ||
		second.Window.Format("15:04") != "01:00" {
		t.Errorf("sequential mode: %+v", second)
	}
	code, out, _ = shardboard(t, "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2")
	if code != 0 || !strings.Contains(out, "3,488,672,514") || !strings.Contains(out, "2012-10-15T18:58:18Z") {
		t.Errorf("table:\n%s", out)
	}
}

func TestWrongFieldsOfIDsAreNamedWithTheirLimits(t *testing.T) {
	for arg, says := range map[string]string{
		"--count=0":                   `count must be a number from 1 to 100000, not "0".`,
		"--count=x":                   `count must be a number from 1 to 100000, not "x".`,
		"--mode=fast":                 `mode must be default or sequential, not "fast".`,
		"--time=yesterday":            `time must be a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970, not "yesterday".`,
		"--time=1969-01-01T00:00:00Z": `time must be from 1970 to 10889, not "1969-01-01T00:00:00Z".`,
		"--process=65536":             `process must be a number from 0 to 65535, not "65536".`,
		"--counter=4294967296":        `counter must be a number from 0 to 4294967295, not "4294967296".`,
		"--mac=12345678":              `mac must be a MAC address such as 02:00:5e:10:00:01, or its last 1 to 7 hexadecimal digits, not "12345678".`,
		"20be0ffc":                    `id must be a UUID of 32 hexadecimal digits, not "20be0ffc".`,
		"507f1f77-bcf8-4cd7-8994-39011013a65c": "507f1f77-bcf8-4cd7-8994-39011013a65c is no locality UUID: its 13th digit must be b, " +
			"and its last 12 digits a time from 2012 to tomorrow.",
	} {
		code, out, errs := shardboard(t, "id", arg)
		if code != 2 || out != "" || errs != "shardboard: "+says+"\n" {
			t.Errorf("%s: exit %d\n%s%s", arg, code, out, errs)
		}
	}
	code, _, errs := shardboard(t, "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2", "--count=2")
	if code != 2 || !strings.Contains(errs, "--count") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
