package trying

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
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

// Parameters are those of a game, whose rows of a file have at most so many bytes.
func (q *LabGameQuery) Parameters(most int) param.List {
	q.LabGameInputs, q.Step = DefaultLabGame(), -1
	return param.List{
		param.Text(&q.Key, "key", "fields with commas between them, each as it is or as hash(field); default "+q.Key),
		param.Number(&q.Players, "players", 1, MaxLabPlayers, "players, which are shards"),
		param.Number(&q.Dealers, "dealers", 1, MaxLabDealers, "dealers, which are application servers"),
		param.OneOf(&q.Workload, "workload", "cards have the fields suit and rank, projects the fields project and doc, all have order and deck",
			LabCards, LabProjects, LabCSV),
		param.Number(&q.Decks, "decks", 1, MaxLabDecks, "decks of 52 cards"),
		param.Number(&q.Projects, "projects", 1, MaxLabProjects, "of workload=projects: how many"),
		param.Real(&q.Skew, "skew", 0, MaxLabSkew, "of workload=projects: how much larger the largest are, 0: all alike"),
		param.Values("csv", fmt.Sprintf("of workload=csv: a line with names of fields, and a line for each card; at most %s bytes",
			format.Count(int64(most))), func(given []string) error {
			if len(given) == 0 {
				return nil
			}
			if q.CSV = given[0]; len(q.CSV) > most {
				return fault.New(fault.Invalid, "csv is longer than %d bytes.", most)
			}
			return nil
		}),
		param.Seed(&q.Seed, "of the workload and of the order of cards in a round"),
		param.Check(q.deal),
		param.Of("joins", "a player joins after each of these numbers of cards, such as 52,104; at most 20", func(typed string) (err error) {
			q.Joins, err = parseJoins(typed, len(q.workload.Cards))
			return err
		}),
		param.NumberTo(&q.Step, "step", "show the table after so many cards; default all", 0, func() int { return q.Cards() }),
	}
}

// deal makes the cards and the key of what was read.
func (q *LabGameQuery) deal() (err error) {
	q.Joins = []int{}
	switch q.Workload {
	case LabCards:
		q.workload = game.Decks(q.Decks)
	case LabProjects:
		q.workload = game.Projects(q.Decks, q.Projects, q.Skew, q.Seed)
	case LabCSV:
		if q.workload, err = game.OfCSV(q.CSV); err != nil {
			return err
		}
		q.Decks = (len(q.workload.Cards) + game.DeckSize - 1) / game.DeckSize
	}
	if q.Workload != LabCSV {
		q.CSV = ""
	}
	q.key, err = game.ParseKey(q.Key, q.workload)
	q.Key = q.key.String()
	return err
}

// LabGameTurnsQuery is a page of the cards of a game.
type LabGameTurnsQuery struct {
	LabGameQuery
	From  int // the number of the first card, from 1
	Limit int
}

// Parameters are those of the address of the list.
func (q *LabGameTurnsQuery) Parameters() param.List {
	q.From = 1
	return append(q.LabGameQuery.Parameters(param.MostText), param.CursorBy(func(key string) (err error) {
		if q.From, err = strconv.Atoi(key); err != nil || q.From < 1 {
			return fault.New(fault.Invalid, "This cursor is not from this list.")
		}
		return nil
	}), param.Limit(&q.Limit))
}

// parseJoins reads after how many cards players join, such as 52,104.
func parseJoins(text string, cards int) ([]int, error) {
	var out []int
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
func (q LabGameQuery) SkewText() string { return decimalText(q.Skew) }

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
