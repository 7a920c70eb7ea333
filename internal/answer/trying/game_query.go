package trying

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/game"
	"shardboard/internal/sanitize"
)

// Limits of a game. The largest one is computed in a fraction of a second.
const (
	MaxLabPlayers  = 60
	MaxLabDealers  = 60
	MaxLabDecks    = 200
	MaxLabProjects = 1000
	MaxLabSkew     = 3
	MaxLabJoins    = 20
	MaxLabFile     = 1 << 20 // bytes of rows that are read from a file; those in an address have MaxInput
)

// The workloads of a game.
const (
	LabCards    = "cards"
	LabProjects = "projects"
	LabCSV      = "csv"
)

// LabGameQuery asks for a game, and for its state after some cards.
type LabGameQuery struct {
	api.LabGameInputs
	Step int // cards dealt; -1: all

	workload game.Workload
	key      game.Key
}

// DefaultLabGame are the inputs of a game of which nothing is said.
func DefaultLabGame() api.LabGameInputs {
	return api.LabGameInputs{Key: game.Ascending, Players: 4, Dealers: 4, Workload: LabCards, Decks: 4, Projects: 20, Skew: 1, Seed: 1}
}

// ParseLabGame reads the parameters of a game; most bounds its csv in bytes.
func ParseLabGame(in url.Values, most int) (q LabGameQuery, err error) {
	q.LabGameInputs = DefaultLabGame()
	for name, n := range map[string]struct {
		to    *int
		least int
		most  int
	}{
		"players": {&q.Players, 1, MaxLabPlayers}, "dealers": {&q.Dealers, 1, MaxLabDealers}, "decks": {&q.Decks, 1, MaxLabDecks},
		"projects": {&q.Projects, 1, MaxLabProjects},
	} {
		if *n.to, err = answer.NumberParameter(in, name, n.least, n.most, *n.to); err != nil {
			return q, err
		}
	}
	if text := in.Get("seed"); text != "" {
		if q.Seed, err = strconv.ParseUint(text, 10, 63); err != nil {
			return q, fault.New(fault.Invalid, "seed must be a number from 0 to 9223372036854775807, not %q.", sanitize.Truncate(text, 40))
		}
	}
	if text := in.Get("skew"); text != "" {
		if q.Skew, err = strconv.ParseFloat(text, 64); err != nil || !(q.Skew >= 0 && q.Skew <= MaxLabSkew) {
			return q, fault.New(fault.Invalid, "skew must be a number from 0 to %d, not %q.", MaxLabSkew, sanitize.Truncate(text, 40))
		}
	}
	if err = q.readWorkload(in, most); err != nil {
		return q, err
	}
	if text := strings.TrimSpace(in.Get("key")); text != "" {
		q.Key = text
	}
	if q.key, err = game.ParseKey(q.Key, q.workload); err != nil {
		return q, err
	}
	q.Key = q.key.String()
	cards := len(q.workload.Cards)
	if q.Joins, err = parseJoins(in.Get("joins"), cards); err != nil {
		return q, err
	}
	q.Step, err = answer.NumberParameter(in, "step", 0, cards, -1)
	return q, err
}

// readWorkload reads what is dealt.
func (q *LabGameQuery) readWorkload(in url.Values, most int) (err error) {
	if text := in.Get("workload"); text != "" {
		q.Workload = text
	}
	switch q.Workload {
	case LabCards:
		q.workload = game.Decks(q.Decks)
	case LabProjects:
		q.workload = game.Projects(q.Decks, q.Projects, q.Skew, q.Seed)
	case LabCSV:
		if q.CSV = in.Get("csv"); len(q.CSV) > most {
			return fault.New(fault.Invalid, "csv is longer than %d bytes.", most)
		}
		q.workload, err = game.OfCSV(q.CSV)
		q.Decks = (len(q.workload.Cards) + game.DeckSize - 1) / game.DeckSize
	default:
		return fault.New(fault.Invalid, "workload must be cards, projects or csv, not %q.", sanitize.Truncate(q.Workload, 40))
	}
	return err
}

// parseJoins reads after how many cards players join, such as 52,104.
func parseJoins(text string, cards int) ([]int, error) {
	out := []int{}
	if text = strings.TrimSpace(text); text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n >= cards || len(out) > 0 && n < out[len(out)-1] || len(out) == MaxLabJoins {
			return nil, fault.New(fault.Invalid,
				"joins must be at most %d ascending numbers of cards from 0 to %d with commas between them, not %q.",
				MaxLabJoins, cards-1, sanitize.Truncate(text, 60))
		}
		out = append(out, n)
	}
	return out, nil
}

// Values are the parameters of the game that differ from the usual ones, without the step.
func (q LabGameQuery) Values() url.Values {
	out, usual := url.Values{}, DefaultLabGame()
	set := func(name, value, usual string) {
		if value != usual {
			out.Set(name, value)
		}
	}
	set("key", q.Key, usual.Key)
	set("players", strconv.Itoa(q.Players), strconv.Itoa(usual.Players))
	set("dealers", strconv.Itoa(q.Dealers), strconv.Itoa(usual.Dealers))
	set("workload", q.Workload, usual.Workload)
	if q.Workload != LabCSV {
		set("decks", strconv.Itoa(q.Decks), strconv.Itoa(usual.Decks))
	}
	if q.Workload == LabProjects {
		set("projects", strconv.Itoa(q.Projects), strconv.Itoa(usual.Projects))
		set("skew", q.SkewText(), strconv.Itoa(int(usual.Skew)))
	}
	set("csv", q.CSV, "")
	set("joins", q.JoinsText(), "")
	set("seed", strconv.FormatUint(q.Seed, 10), strconv.FormatUint(usual.Seed, 10))
	return out
}

// SkewText is the skew as it is typed.
func (q LabGameQuery) SkewText() string { return strconv.FormatFloat(q.Skew, 'g', -1, 64) }

// JoinsText are the joins as they are typed.
func (q LabGameQuery) JoinsText() string {
	var out []string
	for _, n := range q.Joins {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ",")
}

// Cards is how many cards the game has.
func (q LabGameQuery) Cards() int { return len(q.workload.Cards) }

// URL is the address of the game on a page such as /lab/game; a step below 0 leads to its end.
func (q LabGameQuery) URL(page string, step int) string {
	values := q.Values()
	if step >= 0 {
		values.Set("step", strconv.Itoa(step))
	}
	if len(values) == 0 {
		return page
	}
	return page + "?" + values.Encode()
}
