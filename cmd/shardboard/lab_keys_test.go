package main

import (
	"encoding/json"
	"strings"
	"testing"

	"shardboard/internal/api"
)

func TestKeysAreComparedWithoutAServer(t *testing.T) {
	few := []string{"lab", "keys", "--collection=changes", "--projects=5", "--per-project=4", "--per-document=50"}
	code, out, errs := shardboard(t, few...)
	if code != 0 || !strings.Contains(out, "{project_id: 1, doc_id: 1}: The unique index {doc_id, project_id, server_seq}") {
		t.Errorf("table: exit %d, %s\n%s", code, errs, out)
	}
	code, out, _ = shardboard(t, append(few, `--key={"server_seq":1}`, `--key={"doc_id":1,"_id":1}`, "-o", "json")...)
	var a api.LabKeys
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil || a.Of != 1000 || !a.Exact || len(a.Inputs.Keys) != 2 ||
		len(a.Items) != 10 {
		t.Errorf("JSON: exit %d, %v, %d keys of %d rows", code, err, len(a.Items), a.Of)
	}
	code, out, _ = shardboard(t, append(few, "-o", "csv")...)
	if lines := strings.Count(out, "\n"); code != 0 || lines != 9 || !strings.HasPrefix(out, "name,key,") {
		t.Errorf("CSV: exit %d, %d lines", code, lines)
	}
	code, out, _ = shardboard(t, append(few, "--queries", "-o", "csv")...)
	if lines := strings.Count(out, "\n"); code != 0 || lines != 1+8*4 {
		t.Errorf("queries: exit %d, %d lines", code, lines)
	}
	if code, _, errs := shardboard(t, "lab", "keys", "--skew=4"); code == 0 || !strings.Contains(errs, `skew must be a number from 0 to 3, not "4".`) {
		t.Errorf("a skew of 4: exit %d, %s", code, errs)
	}
}

func TestWhereIDsLandIsShown(t *testing.T) {
	code, out, errs := shardboard(t, "lab", "ids", "--inserts=1000", "-o", "csv")
	if code != 0 || strings.Count(out, "\n") != 6 || !strings.HasPrefix(out, "kind,text,busiestShare") {
		t.Errorf("exit %d, %s\n%s", code, errs, out)
	}
}
