package param

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

// query has a parameter of each kind.
type query struct {
	text, word, named string
	number            int
	real              float64
	seed              uint64
	bytes             int64
	flag              bool
	maybe             *bool
	at                time.Time
	over              time.Duration
	page, limit       int
	place             int
	open              []string
}

func (q *query) Parameters() List {
	q.word, q.number, q.real, q.seed = "b", 4, 1.5, 1
	return List{
		Text(&q.text, "text", "a text"),
		OneOf(&q.word, "word", "what is shown", "a", "b", "c"),
		Named("named", "", []string{"usual", "reverse"}, func(word string) { q.named = word }),
		Number(&q.number, "number", 1, 60, "players"),
		Real(&q.real, "real", 0, 3, "how skew"),
		Seed(&q.seed, "of chance"),
		Bytes(&q.bytes, "bytes", "a size"),
		Flag(&q.flag, "flag", "1: with more"),
		MaybeFlag(&q.maybe, "maybe", "true or false"),
		Time(&q.at, "at", "a time"),
		Duration(&q.over, "over", time.Second, 168*time.Hour, "a duration"),
		Page(&q.page, "from 1"), Place(&q.place), Limit(&q.limit),
		Values("open", "repeated", func(given []string) error {
			q.open = given
			return nil
		}),
		Check(func() error {
			if q.word == "c" && q.flag {
				return fault.New(fault.Invalid, "Give either word=c or flag.")
			}
			return nil
		}),
	}
}

func read(t *testing.T, text string) (query, error) {
	in, err := url.ParseQuery(text)
	must.Do(t, err)
	return Read[query](in)
}

func TestAbsentAndEmptyParametersHaveTheValuesOfTheirVariables(t *testing.T) {
	for _, text := range []string{"", "text=&word=&number=&real=&seed=&bytes=&flag=&maybe=&at=&over=&page=&cursor=&limit=", "other=1"} {
		q, err := read(t, text)
		if err != nil || q.word != "b" || q.named != "" || q.number != 4 || q.real != 1.5 || q.seed != 1 || q.bytes != 0 || q.flag ||
			q.maybe != nil || !q.at.IsZero() || q.page != 0 || q.limit != api.DefaultLimit || q.open != nil {
			t.Errorf("%q: %+v, %v", text, q, err)
		}
	}
}

func TestParametersAreReadAsPeopleTypeThem(t *testing.T) {
	q, err := read(t, "text=+a+b+&word=c&named=reverse&number=60&real=0.5&seed=9223372036854775807&bytes=1.5TiB&flag=0&maybe=False&"+
		"at=2026-03-01T12:00&over=90s&page=3&cursor=Nw&limit=1000&open=x&open=y")
	if err != nil || q.text != "a b" || q.word != "c" || q.named != "reverse" || q.number != 60 || q.real != 0.5 || q.seed != 1<<63-1 ||
		q.bytes != 3<<39 || q.flag || q.maybe == nil || *q.maybe || !q.at.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) ||
		q.over != 90*time.Second || q.page != 3 || q.place != 7 || q.limit != 1000 || len(q.open) != 2 {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := read(t, "page=1"); err != nil || q.page != 0 {
		t.Errorf("the first page is %d, %v, and an absent one 0", q.page, err)
	}
	for text, want := range map[string]int64{"1": 1, "1048576": 1 << 20, "500GB": 500e9, "+20+mb+": 20e6, "7B": 7, "0.5kb": 500} {
		if q, err := read(t, "bytes="+text); err != nil || q.bytes != want {
			t.Errorf("%q: %d, %v; expected %d", text, q.bytes, err, want)
		}
	}
}

func TestWhatCannotBeMeantIsRefusedByItsName(t *testing.T) {
	long := strings.Repeat("x", MostText+1)
	for _, text := range []string{"text=" + long, "text=%00", "text=%ff", "word=d", "word=B", "named=last", "number=0", "number=61",
		"number=1.5",
		"number=x", "real=-0.1", "real=3.1", "real=NaN", "real=x", "seed=-1", "seed=9223372036854775808", "bytes=0", "bytes=-1", "bytes=1+ZB",
		"bytes=NaN", "bytes=Inf", "bytes=1e300", "bytes=0.1B", "bytes=GB", "flag=yes", "maybe=2", "at=yesterday", "at=2026-13-01T00:00",
		"over=0s", "over=169h", "over=x", "page=0", "page=1000001", "cursor=*", "cursor=eA", "cursor=LTE", "limit=0", "limit=1001"} {
		name, _, _ := strings.Cut(text, "=")
		_, err := read(t, text)
		refused.With(t, err, fault.Invalid, name, "%.40q", text)
	}
	refused.As(t, must.Err(read(t, "word=c&flag=1")), fault.Invalid, "what a check refuses is taken")
}

func TestDescriptionsHaveBoundsAndWhatAnAbsentOneMeans(t *testing.T) {
	texts, types := map[string]string{}, map[string]string{}
	for _, p := range new(query).Parameters() {
		texts[p.Name], types[p.Name] = p.Text, p.Type
	}
	for name, want := range map[string]string{"word": "a, b (default) or c; what is shown", "named": "usual (default) or reverse",
		"number": "players, 1 to 60; default 4", "real": "how skew, 0 to 3; default 1.5", "seed": "of chance; default 1",
		"limit": "1 to 1000, default 100", "cursor": cursorText} {
		expect.Equal(t, texts[name], want, "%s", name)
	}
	if types["number"] != "integer" || types["limit"] != "integer" || types["page"] != "integer" || types["text"] != "" {
		t.Errorf("%v", types)
	}
}

func TestTheBoundsOfADurationAreShort(t *testing.T) {
	_, err := read(t, "over=x")
	if want := "from 1s to 168h, such as 90s"; !strings.Contains(fault.Text(err), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}
