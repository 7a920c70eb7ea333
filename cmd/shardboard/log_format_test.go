package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// With --log-format json every line that serve writes for a machine is JSON, its end too.
func TestLogAsJSON(t *testing.T) {
	var stderr bytes.Buffer
	t.Setenv("SHARDBOARD_URI", "")
	if code := run(t.Context(), []string{"serve", "--log-format", "json", "--data-dir", t.TempDir()}, io.Discard, &stderr); code == 0 {
		t.Error("it serves without a cluster")
	}
	for line := range strings.Lines(stderr.String()) {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil || got["level"] != "ERROR" || got["why"] == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
	if stderr.Len() == 0 {
		t.Error("nothing is logged")
	}
	var out bytes.Buffer
	newLog(&out, "json", slog.LevelWarn).Info("left out")
	newLog(&out, "json", slog.LevelWarn).Warn("said\nso", "a", "b")
	if !strings.Contains(out.String(), `"msg":"said\nso","a":"b"`) || strings.Contains(out.String(), "left out") {
		t.Error(out.String())
	}
	stderr.Reset()
	if code := run(t.Context(), []string{"version", "--log-format", "xml"}, io.Discard, &stderr); code == 0 ||
		!strings.Contains(stderr.String(), `--log-format must be one of "text","json"`) {
		t.Errorf("%d: %s", code, stderr.String())
	}
}
