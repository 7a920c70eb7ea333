package records

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// A record has a field for each column of its table, of the column's type, and is read as it was stored.
func TestRecordsAreReadAsTheyWereStored(t *testing.T) {
	check(t, users)
	check(t, sessions)
	check(t, tokens)
	check(t, settings)
	check(t, approvals)
	check(t, plans)
	check(t, removedPlans)
	check(t, runs)
	check(t, intents)
	check(t, dismissals)
	check(t, takes)
	check(t, alerts)
	check(t, silences)
	check(t, deliveries)
	check(t, watches)
	check(t, outcomes)
	check(t, holdings)
	check(t, problems)
	check(t, judged)
	check(t, heads)
	check(t, axes)
	check(t, columns)
	check(t, surveys)
	check(t, history)
	check(t, watched)
	check(t, events)
	check(t, minuteCounts)
	check(t, spanCounts)
}

func check[T any](t *testing.T, of table[T]) {
	t.Helper()
	types := map[store.ColumnType]string{store.Text: "string", store.Number: "int64", store.Time: "int64", store.Flag: "int64",
		store.Bytes: "[]uint8", store.Body: "[]uint8", store.Ended: "int64", store.Unset: "[]uint8"}
	var full, empty T
	cluster := "c"
	for i, at := range of.fields(&cluster, &full) {
		switch at := at.(type) {
		case *string:
			*at = fmt.Sprint("text ", i)
		case *int:
			*at = i + 1
		case *int64:
			*at = int64(i + 1)
		case *time.Duration:
			*at = time.Duration(i+1) * time.Millisecond
		case *bool:
			*at = true
		case *time.Time:
			*at = time.UnixMilli(int64(i + 1)).UTC()
		case *[]byte:
			*at = []byte{byte(i)}
		case *[]string:
			*at = []string{"a"}
		case *map[string]string:
			*at = map[string]string{"a": "b"}
		default:
			t.Fatalf("%s, field %d: %T cannot be stored", of.Name, i, at)
		}
	}
	row := of.row(cluster, full)
	must.That(t, len(row) == len(of.Columns),
		"%s has %d columns, its record %d fields", of.Name, len(of.Columns), len(row))
	for i, c := range of.Columns {
		expect.Equal(t, fmt.Sprintf("%T", row[i]), types[c.Type], "%s.%s in the store", of.Name, c.Name)
	}
	if got := of.record(row); !reflect.DeepEqual(got, full) {
		t.Errorf("%s: %+v, want %+v", of.Name, got, full)
	}
	none := of.row("", empty)
	for i, c := range of.Columns {
		if unset := none[i] == nil; unset != (c.Type == store.Ended || c.Type == store.Unset) {
			t.Errorf("%s.%s: %v without a value", of.Name, c.Name, none[i])
		}
	}
}
