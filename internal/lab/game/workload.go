package game

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// MaxCards is how many cards a workload may have.
const MaxCards = 10_400

// Workload is data in the order in which it comes.
type Workload struct {
	Fields []string // names of the fields of each card, those of all workloads first: order, deck
	Cards  []Card
}

// Card is one unit of data.
type Card struct {
	Text   string
	Deck   int // from 1: its place in time, coarsely
	values []value
}

// value is a number or a text: encoded so that bytes compare as the values do, and as people read it.
type value struct{ key, text string }

func number(n int64, text string) value {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n)^1<<63)
	return value{string(b[:]), text}
}

func words(text string) value { return value{text + "\x00", text} }

// newCard is a card with the fields of all workloads.
func newCard(order int, text string, more ...value) Card {
	deck := order/DeckSize + 1
	return Card{Text: text, Deck: deck, values: append([]value{number(int64(order+1), strconv.Itoa(order+1)),
		number(int64(deck), strconv.Itoa(deck))}, more...)}
}

// dealtAs is the card with another order.
func (c Card) dealtAs(order int) Card {
	c.values = slices.Clone(c.values)
	c.values[0] = number(int64(order+1), strconv.Itoa(order+1))
	return c
}

// Decks are decks of cards in the published order: spades from 2 to the ace, then hearts, diamonds and clubs. A card is
// some data, of about 12 hours.
func Decks(n int) Workload {
	w := Workload{Fields: []string{"order", "deck", "suit", "rank"}}
	ranks := []string{"2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"}
	suits := []string{"♠", "♥", "♦", "♣"}
	for i := range n * DeckSize {
		suit, rank := i%DeckSize/len(ranks), i%len(ranks)
		w.Cards = append(w.Cards, newCard(i, ranks[rank]+suits[suit], number(int64(suit), suits[suit]),
			number(int64(rank), ranks[rank])))
	}
	return w
}

// Projects are documents of projects of different size: project number p is chosen with a weight of 1/p to the power of
// skew. A skew of 0 makes all alike, at 1 the first of a hundred gets about a fifth.
func Projects(decks, projects int, skew float64, seed uint64) Workload {
	w := Workload{Fields: []string{"order", "deck", "project", "doc"}}
	random := rand.New(rand.NewPCG(seed, 0x70726f6a))
	sums, sum := make([]float64, projects), 0.0
	for p := range sums {
		sum += math.Pow(float64(p+1), -skew)
		sums[p] = sum
	}
	docs := make([]int, projects)
	for i := range decks * DeckSize {
		at := random.Float64() * sum
		p, _ := slices.BinarySearch(sums, at)
		p = min(p, projects-1)
		docs[p]++
		project, doc := fmt.Sprintf("p%03d", p+1), fmt.Sprintf("d%d", docs[p])
		w.Cards = append(w.Cards, newCard(i, project+"/"+doc, words(project), words(project+"/"+doc)))
	}
	return w
}

// OfCSV are the rows of a file with a header, in their order. A column whose cells are all whole numbers is compared as
// numbers, others as text.
func OfCSV(text string) (w Workload, err error) {
	in := csv.NewReader(strings.NewReader(text))
	in.TrimLeadingSpace = true
	rows, err := in.ReadAll()
	switch {
	case err != nil:
		return w, fault.Wrap(fault.Invalid, err, "csv cannot be read: %s.", sanitize.Line(err.Error()))
	case len(rows) < 2:
		return w, fault.New(fault.Invalid, "csv must have a line with names of fields, and at least one line below it.")
	case len(rows)-1 > MaxCards:
		return w, fault.New(fault.Invalid, "csv must have at most %d lines below the first, not %d.", MaxCards, len(rows)-1)
	}
	w.Fields = append([]string{"order", "deck"}, rows[0]...)
	for i, name := range w.Fields {
		switch {
		case !utf8.ValidString(name) || name == "" || len(name) > 40 || strings.ContainsAny(name, "(), \x00"):
			return w, fault.New(fault.Invalid, "csv must name each field in its first line, by at most 40 letters without spaces, "+
				"brackets and commas, not %q.", sanitize.Truncate(name, 40))
		case slices.Contains(w.Fields[:i], name):
			return w, fault.New(fault.Invalid, "csv must name each field once, and none order or deck, which all workloads have: %q.",
				sanitize.Truncate(name, 40))
		}
	}
	numbers := make([]bool, len(rows[0]))
	for column := range numbers {
		numbers[column] = !slices.ContainsFunc(rows[1:], func(row []string) bool {
			_, err := strconv.ParseInt(row[column], 10, 64)
			return err != nil
		})
	}
	for i, row := range rows[1:] {
		var values []value
		for column, cell := range row {
			if !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) || len(cell) > 100 {
				return w, fault.New(fault.Invalid, "csv must have cells of at most 100 bytes of UTF-8, not %q.", sanitize.Truncate(cell, 40))
			}
			if numbers[column] {
				n, _ := strconv.ParseInt(cell, 10, 64) // was parsed above
				values = append(values, number(n, cell))
				continue
			}
			values = append(values, words(cell))
		}
		w.Cards = append(w.Cards, newCard(i, strings.Join(row, ", "), values...))
	}
	return w, nil
}
