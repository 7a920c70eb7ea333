package main

import (
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestTablesFitTheTerminal(t *testing.T) {
	header := []string{"NAME", "CHUNKS", "KEY", "REF"}
	rows := [][]string{
		{"東京のシャード", "12", `{"project_id":{"$oid":"68e1153be28a74c611ffd688"}}`, "633d1631-3e50-498a-8201-39e53ab29c4b.EQAAAP9wcm9qZWN0X2lkAAA"},
		{"😀-shard", "123 456 789", "–", "x"},
	}
	for _, width := range []int{20, 40, 80, 120, 200} {
		var out strings.Builder
		table := textTable{w: &out, out: terminal{tty: true, width: width}, header: header, numbers: []bool{false, true, false, false}}
		copied := [][]string{append([]string{}, rows[0]...), append([]string{}, rows[1]...)}
		must.Do(t, table.write(copied))
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			expect.That(t, cells(line) <= width, "a line has %d cells of %d: %s", cells(line), width, line)
		}
		expect.That(t, width < 40 || strings.Contains(out.String(), "123 456 789"), "at %d cells a number is cut:\n%s", width, out.String())
		expect.That(t, (width < 40 || len(table.leftOut()) <= 2) && (width != 200 || len(table.leftOut()) == 0),
			"at %d cells these are left out: %v", width, table.leftOut())
		// The numbers end in the same cell, whatever is before them.
		expect.That(t, width < 40 || cells(lines[1][:strings.Index(lines[1], "12")+2]) == cells(lines[2][:strings.Index(lines[2], "789")+3]),
			"not aligned at %d cells:\n%s", width, out.String())
	}
}

func TestAPipeGetsWholeRows(t *testing.T) {
	var out strings.Builder
	long := strings.Repeat("x", 500)
	table := textTable{w: &out, header: []string{"A", "B"}, numbers: []bool{false, false}}
	for _, rows := range [][][]string{{{"1", "b"}}, {{long, "\x1b[31m\u202e"}}} { // the second page is wider than the first
		must.Do(t, table.write(rows))
	}
	got := out.String()
	expect.That(t, strings.Contains(got, long) && !strings.ContainsAny(got, "\x1b\u202e") && strings.Count(got, "\n") == 3, "%q", got)
}

func TestCutTextsKeepBothEnds(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcdefghij", 5, "ab…ij"}, {"abc", 5, "abc"}, {"東京東京", 5, "東…京"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"👨‍👩‍👧abcdef", 5, "👨‍👩‍👧…ef"},
	} {
		got := shorten(tc.text, tc.width)
		expect.That(t, got == tc.want && cells(got) <= tc.width, "%q in %d cells is %q, want %q", tc.text, tc.width, got, tc.want)
	}
}

func TestASentenceIsRatherReadThanAnIdentifier(t *testing.T) {
	sentence := strings.Repeat("word ", 20)
	for width, want := range map[int]string{80: "SEVERITY  TITLE", 140: "SEVERITY  TITLE  ID"} {
		var out strings.Builder
		table := textTable{w: &out, out: terminal{tty: true, width: width}, header: []string{"SEVERITY", "TITLE", "ID"}, numbers: make([]bool, 3)}
		must.Do(t, table.write([][]string{{"warn", sentence, "balancer-off.gddtbsbvqu57g39a"}}))
		expect.Equal(t, strings.Join(strings.Fields(strings.SplitN(out.String(), "\n", 2)[0]), "  "), want,
			"%d cells", width)
	}
	var out strings.Builder
	table := textTable{w: &out, out: terminal{tty: true, width: 50}, header: []string{"ID", "SUMMARY"}, numbers: make([]bool, 2)}
	if err := table.write([][]string{{"jl5uqeu5tg2mn7hhy33xopf43q", sentence}}); err != nil || !strings.Contains(out.String(), "SUMMARY") {
		t.Errorf("the last column is left out and not cut: %v %q", err, out.String())
	}
}

func TestABandIsDrawnInTheOrderOfItsKeys(t *testing.T) {
	symbols := map[string]byte{"a": '1', "b": '2'}
	tile := api.MapTile{To: 4, Shards: []string{"b", "a", "gone"}, Marks: api.MapMarks{At: []int{0, 2, 3}, Shard: []int{1, 0, 2}}}
	for width, want := range map[int]string{4: "112?", 8: "111122??", 2: "12"} {
		expect.Equal(t, bandText(tile, width, symbols), want, "%d cells", width)
	}
	expect.Equal(t, bandText(api.MapTile{}, 2, symbols), "??", "an unknown tile")
}
