// Package game plays Kristina Chodorow's card game of 2011, which shows what a shard key does to a sharded collection.
// Cards are data, players are shards, dealers are application servers. A dealer turns over a card, and the player
// whose chunk has the range of its key takes it. A chunk is full at its fourth card, and is split in two at the middle
// card. A player who has more chunks than another after a split passes one on. The game begins with one chunk, from
// -∞ to ∞, which the first player has.
//
// A game is pure computing: the same options make the same game. The rules leave two things open. Here a player keeps
// the half with the card that was just taken and passes the other one on, so the player who takes an ascending key
// keeps on taking it, as the publication tells of "George". The player with the fewest chunks gets it, of several the
// next at the table.
package game

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
)

const (
	// Full is how many cards a chunk has when it is split.
	Full = 4
	// DeckSize is how many cards a deck has. In other workloads than that of cards it is what counts as one deck.
	DeckSize = 52
)

// Options say what is played.
type Options struct {
	Workload Workload
	Key      Key
	Players  int    // at the beginning
	Dealers  int    // each deals one card in a round
	Joins    []int  // a player joins after so many cards, in ascending order; one for each
	Seed     uint64 // of the order in which the cards of one round arrive
}

// Game is a game that is being played. It is not safe for concurrent use.
type Game struct {
	options Options
	arrive  []arrival
	dealt   int

	chunks  []*chunk // in the order of their ranges
	owned   []int    // chunks by player
	joined  int      // of Options.Joins
	counted counts
}

// chunk is a range of keys and the cards in it, in the order of their keys.
type chunk struct {
	min, max bound // max.key "" is ∞
	cards    []held
	player   int
	newest   int // deck of its newest card; 0 without cards
}

// bound is a key as it is compared, and as people read it. The key "" is before all others.
type bound struct{ key, text string }

type held struct {
	bound
	deck int
}

// arrival is a card that a dealer turns over.
type arrival struct {
	card   Card
	dealer int
}

// New begins a game. Options have been checked by their maker: at least one player, one dealer, and a key whose fields
// the workload has.
func New(o Options) *Game {
	g := &Game{options: o, owned: make([]int, o.Players), chunks: []*chunk{{}}}
	g.owned[0] = 1
	g.arrive = arrivals(o)
	g.counted = newCounts(o, len(g.arrive))
	return g
}

// arrivals shuffles the cards of each round: dealers work at the same time. The order dealt is that of the arrivals.
func arrivals(o Options) []arrival {
	out := make([]arrival, len(o.Workload.Cards))
	random := rand.New(rand.NewPCG(o.Seed, 0x6c6162)) // the second half of the seed keeps it apart from other uses
	for i, c := range o.Workload.Cards {
		out[i] = arrival{c, i%o.Dealers + 1}
	}
	for from := 0; o.Dealers > 1 && from < len(out); from += o.Dealers {
		round := out[from:min(from+o.Dealers, len(out))]
		random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		for i := range round {
			round[i].card = round[i].card.dealtAs(from + i)
		}
	}
	return out
}

// Turn is one card and what came of it. Players, dealers, rounds and decks are counted from 1.
type Turn struct {
	Number, Round, Dealer int
	Deck                  int
	Card, Key             string
	Player                int    // who took the card
	Position              int    // place of the chunk among all, from 0; a split makes one behind it
	Chunk                 string // its range before it was split
	Held                  int    // cards in it, this one included
	Searched              int    // chunks that the player has, among which the right one was found
	Split                 *Split // nil: it was not split
	Pass                  *Pass  // nil: no chunk was passed on
	Stuck                 bool   // the chunk is full, and all its cards have one key
	Joined                int    // the player who joined before this card; 0: nobody
}

// Split is a chunk that became two at a key, with so many cards on either side.
type Split struct {
	At           string
	Lower, Upper int
}

// Pass is a chunk that went from one player to another.
type Pass struct {
	From, To int
	Upper    bool // it is the upper half
	Chunk    string
	Cards    int
}

// Left is how many cards are still to be dealt.
func (g *Game) Left() int { return len(g.arrive) - g.dealt }

// Next deals a card. ok is false after the last one.
func (g *Game) Next() (t Turn, ok bool) {
	if g.Left() == 0 {
		return t, false
	}
	a := g.arrive[g.dealt]
	t = Turn{Number: g.dealt + 1, Round: g.dealt/g.options.Dealers + 1, Dealer: a.dealer, Deck: a.card.Deck, Card: a.card.Text,
		Joined: g.join()}
	g.dealt++
	key := g.options.Key.of(&a.card)
	i := sort.Search(len(g.chunks), func(i int) bool { return g.chunks[i].min.key > key.key }) - 1
	c := g.chunks[i]
	t.Key, t.Player, t.Position, t.Chunk, t.Searched = key.text, c.player+1, i, c.text(), g.owned[c.player]
	g.counted.take(t, c)
	at := c.put(held{key, a.card.Deck})
	t.Held = len(c.cards)
	if len(c.cards) >= Full {
		g.split(&t, i, at)
	}
	g.counted.end(t, g.owned)
	return t, true
}

// join lets a player join when it is time.
func (g *Game) join() (player int) {
	for g.joined < len(g.options.Joins) && g.options.Joins[g.joined] <= g.dealt {
		g.joined++
		g.owned = append(g.owned, 0)
		player = len(g.owned)
	}
	return player
}

// split splits the chunk at a position, if its cards have two keys, and passes on the half without the newest card.
func (g *Game) split(t *Turn, i, newest int) {
	c := g.chunks[i]
	at := c.middle()
	if at == 0 {
		t.Stuck = true
		return
	}
	upper := &chunk{min: c.cards[at].bound, max: c.max, cards: slices.Clone(c.cards[at:]), player: c.player}
	c.max, c.cards = upper.min, c.cards[:at:at]
	c.newest, upper.newest = newestOf(c.cards), newestOf(upper.cards)
	g.chunks = slices.Insert(g.chunks, i+1, upper)
	g.owned[c.player]++
	t.Split = &Split{At: upper.min.text, Lower: len(c.cards), Upper: len(upper.cards)}
	if to := g.fewest(c.player); g.owned[to] < g.owned[c.player] {
		passed := c
		if newest < at {
			passed = upper
		}
		t.Pass = &Pass{From: c.player + 1, To: to + 1, Upper: passed == upper, Chunk: passed.text(), Cards: len(passed.cards)}
		g.owned[passed.player]--
		g.owned[to]++
		passed.player = to
	}
}

// fewest is the player with the fewest chunks; of several the next at the table after a player.
func (g *Game) fewest(after int) int {
	best := after
	for i := 1; i < len(g.owned); i++ {
		if p := (after + i) % len(g.owned); g.owned[p] < g.owned[best] {
			best = p
		}
	}
	return best
}

// put adds a card where its key belongs, behind those with the same key, and returns that position.
func (c *chunk) put(h held) (i int) {
	i = sort.Search(len(c.cards), func(i int) bool { return c.cards[i].key > h.key })
	c.cards = slices.Insert(c.cards, i, h)
	c.newest = max(c.newest, h.deck)
	return i
}

// middle is the card that the upper half begins with: the third of four, or the nearest to it that has another key than
// the card before it. It is 0 if all cards have one key: no split divides them.
func (c *chunk) middle() (best int) {
	if c.cards[0].key == c.cards[len(c.cards)-1].key {
		return 0
	}
	half := len(c.cards) / 2
	for i := 1; i < len(c.cards); i++ {
		if c.cards[i-1].key < c.cards[i].key && (best == 0 || distance(i, half) < distance(best, half)) {
			best = i
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

func newestOf(cards []held) (deck int) {
	for _, h := range cards {
		deck = max(deck, h.deck)
	}
	return deck
}

// text is the range of a chunk as people read it.
func (c *chunk) text() string {
	low, high := "(-∞", "∞)"
	if c.min.key != "" {
		low = "[" + c.min.text
	}
	if c.max.key != "" {
		high = c.max.text + ")"
	}
	return low + " … " + high
}

// Hand is what one player has.
type Hand struct {
	Player int // from 1
	Chunks []ChunkState
	Cards  int
}

// ChunkState is a chunk of a hand.
type ChunkState struct {
	Range string
	Cards []string // keys
	Stuck bool     // full, and all cards have one key
}

// Hands are what the players have now, each in the order of the ranges.
func (g *Game) Hands() []Hand {
	out := make([]Hand, len(g.owned))
	for i := range out {
		out[i].Player = i + 1
	}
	for _, c := range g.chunks {
		state := ChunkState{Range: c.text(), Stuck: c.stuck()}
		for _, h := range c.cards {
			state.Cards = append(state.Cards, h.text)
		}
		hand := &out[c.player]
		hand.Chunks, hand.Cards = append(hand.Chunks, state), hand.Cards+len(c.cards)
	}
	return out
}

func (c *chunk) stuck() bool { return len(c.cards) >= Full && c.middle() == 0 }

// holders is how many players have chunks with a part of the range from low to high; "" is the end on either side.
func (g *Game) holders(low, high string) (players int) {
	seen := make([]bool, len(g.owned))
	i, _ := slices.BinarySearchFunc(g.chunks, low, func(c *chunk, low string) int { return cmp.Compare(c.min.key, low) })
	if i == len(g.chunks) || g.chunks[i].min.key > low {
		i--
	}
	for ; i < len(g.chunks) && (high == "" || g.chunks[i].min.key < high); i++ {
		if p := g.chunks[i].player; !seen[p] {
			seen[p] = true
			players++
		}
	}
	return players
}
