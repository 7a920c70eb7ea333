package ids

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/localityid"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// anatomyOnOneLine formats an anatomy on one line.
func anatomyOnOneLine(a Anatomy) string {
	var parts, notes []string
	for _, p := range a.Parts {
		parts = append(parts, fmt.Sprintf("%s=%s", p.Name, p.Value))
	}
	for _, n := range a.Notes {
		notes = append(notes, n.Code)
	}
	at := "-"
	if !a.Time.IsZero() {
		at = a.Time.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%s | %s | %s | %s/%s | %s", a.Kind, at, strings.Join(parts, " "), a.Ranged, a.Hashed, strings.Join(notes, " "))
}

func TestObjectIDsAreDecoded(t *testing.T) {
	for in, want := range map[string]string{
		"507f1f77bcf86cd799439011": "objectId | 2012-10-17T21:13:27Z | seconds=1350508407 process=bcf86cd799 counter=4427793 | " +
			"lastChunk/even | oldLayout",
		"000000000000000000000000": "objectId | - | seconds=0 process=0000000000 counter=0 | undecided/even | zero",
		"ffffffff0000000000ffffff": "objectId | 2106-02-07T06:28:15Z | seconds=4294967295 process=0000000000 counter=16777215 | " +
			"lastChunk/even | timeAhead oldLayout",
		"000000010000000000000001": "objectId | 1970-01-01T00:00:01Z | seconds=1 process=0000000000 counter=1 | lastChunk/even | " +
			"timeBefore oldLayout",
	} {
		id := must.Get(bson.ObjectIDFromHex(in))
		if got := anatomyOnOneLine(OfObjectID(id, now)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
	id, _ := bson.ObjectIDFromHex("507f1f77bcf86cd799439011")
	a := OfObjectID(id, now)
	if args := a.Notes[0].Args(); args["machine"] != "bcf86c" || args["pid"] != "55193" {
		t.Errorf(`old layout %v, want ["machine"] "bcf86c", ["pid"] "55193"`, args)
	}
}

// The vectors of versions 1, 6 and 7 are those of RFC 9562, appendix A.
func TestUUIDsAreDecodedByVersion(t *testing.T) {
	for in, want := range map[string]string{
		"C232AB00-9414-11EC-B3C8-9F6BDECED846": "uuid1 | 2022-02-22T19:22:22Z | ticks=138648505420000000 clockSequence=13256 " +
			"node=9f:6b:de:ce:d8:46 | sweep/even | nodeRandom",
		"1EC9414C-232A-6B00-B3C8-9F6BDECED846": "uuid6 | 2022-02-22T19:22:22Z | ticks=138648505420000000 clockSequence=13256 " +
			"node=9f:6b:de:ce:d8:46 | lastChunk/even | nodeRandom",
		"017F22E2-79B0-7CC3-98C4-DC0C0C07398F": "uuid7 | 2022-02-22T19:22:22Z | milliseconds=1645557742000 randomA=cc3 " +
			"randomB=98c4dc0c0c07398f | lastChunk/even | ",
		"919108f7-52d1-4320-9bac-f847db4148a8": "uuid4 | - | random=919108f752d143209bacf847db4148a8 | spread/even | ",
		"5df41881-3aed-3515-88a7-2f4a814cf09e": "uuid3 | - | nameHash=5df418813aed351588a72f4a814cf09e | spread/even | ",
		"2ed6657d-e927-568b-95e1-2665a8aea6a2": "uuid5 | - | nameHash=2ed6657de927568b95e12665a8aea6a2 | spread/even | ",
		"2489E9AD-2EE2-8E00-8EC9-32D5F69181C0": "uuid8 | - |  | undecided/even | ",
		"00000000-0000-0000-0000-000000000000": "uuidNil | - |  | undecided/even | ",
		"ffffffff-ffff-ffff-ffff-ffffffffffff": "uuidMax | - |  | undecided/even | ",
		"00000000-0000-0000-0000-000000000001": "uuidOther | - | version=0 | undecided/even | ",
		"11111111-1111-b111-9111-ffffffffffff": "uuidOther | - | version=11 | undecided/even | ", // begins with b, but contains no time
		"20be0ffc-314a-bd53-7a50-013a65ca76d2": "uuidLocality | 2012-10-15T18:58:18.45Z | counterReversed=3488672514 processId=12618 " +
			"literal=b macFragment=d:53:7a:50 milliseconds=1350327498450 | oneOf/even | modeUnknown",
	} {
		u, ok := ParseUUID(in)
		must.That(t, ok, "%s is not parsed", in)
		a := OfUUID(u, now)
		if got := anatomyOnOneLine(a); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		for i, p := range a.Parts {
			expect.That(t, p.From < p.To && p.To <= 32 && (i <= 0 || p.From >= a.Parts[i-1].To), "%s: part %d is %+v", in, i, p)
		}
	}
}

// Eight ids that a generator in default mode made one after the other.
func TestDefaultModeLocalityUUIDsStepByALargeOddNumber(t *testing.T) {
	var last uint32
	for i, head := range []string{"c8c9cef9", "14951cfa", "6f5169fb", "ba2da6fc", "06f8f3fc", "51c441fd", "ac809efe", "f75cdbff"} {
		u, ok := ParseUUID(head + "-7a7f-bd53-7a50-013e4e2afbde")
		must.That(t, ok, "%v", head)
		counter := localityid.Reversed(uint32(u[0])<<24 | uint32(u[1])<<16 | uint32(u[2])<<8 | uint32(u[3]))
		// Other generators may take numbers of the same counter in between.
		expect.That(t, i <= 0 || (counter-last)%2 != 0, "%s: step %d is even", head, counter-last)
		expect.That(t, i <= 0 || counter-last >= 1<<20, "%s: step %d is small", head, counter-last)
		last = counter
	}
}

func TestSequentialLocalityUUIDsAreRecognizedByTheirWindow(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 38, 9, 0, time.UTC)
	start := localityid.WindowStart(at)
	for _, tc := range []struct {
		ahead uint32
		after time.Duration
		want  Inserts
	}{{1, 0, Windowed}, {9_999, 3 * time.Hour, Windowed}, {20_000, 0, OneOf}, {1, 48 * time.Hour, OneOf}} {
		var u UUID
		n, ms := start+tc.ahead, at.Add(tc.after).UnixMilli()
		copy(u[:], []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 1, 2, 0xbd, 3, 4, 5,
			byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)})
		a := OfUUID(u, now)
		if a.Kind != UUIDLocality || a.Ranged != tc.want {
			t.Errorf("%d after %s: %s", tc.ahead, tc.after, anatomyOnOneLine(a))
		}
		if a.Ranged == Windowed && (a.Notes[0].Args()["window"] != "2024-05-06 07:30" || a.Notes[0].Args()["n"] != fmt.Sprint(tc.ahead)) {
			t.Errorf("notes %v, want the window of 07:30 and %d ids ahead", a.Notes, tc.ahead)
		}
	}
}

func TestUUIDsAreParsedInEveryForm(t *testing.T) {
	const want = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
	for _, in := range []string{want, strings.ToUpper(want), " " + want + " ", "{" + want + "}", "urn:uuid:" + want,
		"017f22e279b07cc398c4dc0c0c07398f",
		`UUID("` + want + `")`, `UUID('` + want + `')`, `{"$uuid": "` + want + `"}`, `{ "$uuid" : "` + want + `" }`,
		`BinData(4, "AX8i4nmwfMOYxNwMDAc5jw==")`} {
		if u, ok := ParseUUID(in); !ok || u.String() != want {
			t.Errorf("%s: %s %v", in, u, ok)
		}
	}
	for _, in := range []string{"", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", want + "0", "017f22e2x79b0-7cc3-98c4-dc0c0c07398f",
		strings.Repeat("g", 32), strings.Repeat("g", 36),
		`BinData(3, "AX8i4nmwfMOYxNwMDAc5jw==")`, `BinData(4, "AX8i4g==")`, "UUID()", "{}", `{"$gt":""}`, "507f1f77bcf86cd799439011",
		strings.Repeat("a", 200)} {
		if u, ok := ParseUUID(in); ok {
			t.Errorf("the invalid id %q is parsed as %s", in, u)
		}
	}
}

func FuzzUUIDsNeverPanicAndAreReadAgainAsWritten(f *testing.F) {
	f.Add("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	f.Add(`UUID("20be0ffc-314a-bd53-7a50-013a65ca76d2")`)
	f.Fuzz(func(t *testing.T, s string) {
		u, ok := ParseUUID(s)
		if !ok {
			return
		}
		a := OfUUID(u, now)
		again, ok := ParseUUID(a.Text)
		if !ok || again != u || a.Kind == "" || a.Hashed == "" || a.Ranged == "" {
			t.Errorf("%q: %s", s, anatomyOnOneLine(a))
		}
	})
}
