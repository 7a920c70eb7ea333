package game

import "slices"

// Result is how a game ended. Shares are from 0 to 1.
type Result struct {
	Key     string
	Players int // at the end
	Cards   int
	Chunks  int
	Splits  int
	Passes  int

	HotPlayer int     // who took most cards
	HotShare  float64 // of all cards
	// HotShareOfDeck is the share of the player who took most cards of a deck, on average of all decks: who is hot at a
	// time, though it may be another player later.
	HotShareOfDeck float64
	// BusiestRound is how many cards one player took in one round, in which each dealer deals one card, at most.
	BusiestRound int
	// RoundsNeeded is how many rounds the game takes if a player can take one card in a round.
	Rounds, RoundsNeeded int

	// FinishedTouched are cards that came into a chunk that had cards of earlier decks only.
	FinishedTouched int
	Unsplittable    int // chunks that are full and have one key
	Largest         int // cards in the largest chunk

	Load    []Load
	Queries []Query
}

// Load is what the players had to do during one deck.
type Load struct {
	Deck   int
	Cards  []int // taken, by player
	Chunks []int // at its end, by player
	// Searched are the chunks of the player who took a card, on average of the deck's cards.
	Searched float64
}

// counts are what is counted while a game is played.
type counts struct {
	dealers, last   int
	byPlayer        []int
	load            []Load
	splits, passes  int
	finished        int
	searched        []int // by deck
	round           []int // cards of the round by player
	busiest, needed int
}

func newCounts(o Options, cards int) counts { return counts{dealers: o.Dealers, last: cards} }

// take counts a card before it is put into its chunk.
func (n *counts) take(t Turn, c *chunk) {
	if len(n.load) < (t.Number-1)/DeckSize+1 {
		n.load = append(n.load, Load{Deck: len(n.load) + 1})
		n.searched = append(n.searched, 0)
	}
	if c.newest > 0 && c.newest < t.Deck {
		n.finished++
	}
	p, deck := t.Player-1, len(n.load)-1
	n.byPlayer = grown(n.byPlayer, p)
	n.load[deck].Cards = grown(n.load[deck].Cards, p)
	n.round = grown(n.round, p)
	n.byPlayer[p]++
	n.load[deck].Cards[p]++
	n.round[p]++
	n.searched[deck] += t.Searched
}

// end counts what came of a card.
func (n *counts) end(t Turn, owned []int) {
	if t.Split != nil {
		n.splits++
	}
	if t.Pass != nil {
		n.passes++
	}
	if t.Number%n.dealers == 0 || t.Number == n.last {
		most := slices.Max(n.round)
		n.busiest, n.needed = max(n.busiest, most), n.needed+most
		clear(n.round)
	}
	if t.Number%DeckSize == 0 || t.Number == n.last {
		n.load[len(n.load)-1].Chunks = slices.Clone(owned)
	}
}

// grown is a list with at least the position i.
func grown(list []int, i int) []int {
	for len(list) <= i {
		list = append(list, 0)
	}
	return list
}

// Finish deals the cards that are left and says how the game ended.
func (g *Game) Finish() Result {
	for {
		if _, ok := g.Next(); !ok {
			break
		}
	}
	n, players, cards := g.counted, len(g.owned), len(g.arrive)
	r := Result{Key: g.options.Key.String(), Players: players, Cards: cards, Chunks: len(g.chunks), Splits: n.splits, Passes: n.passes,
		BusiestRound: n.busiest, Rounds: (cards + g.options.Dealers - 1) / g.options.Dealers, RoundsNeeded: n.needed,
		FinishedTouched: n.finished, Load: n.load}
	for p, took := range n.byPlayer {
		if share := float64(took) / float64(cards); share > r.HotShare {
			r.HotPlayer, r.HotShare = p+1, share
		}
	}
	for i := range r.Load {
		l := &r.Load[i]
		l.Cards = grown(l.Cards, len(l.Chunks)-1)
		l.Searched = float64(n.searched[i]) / float64(cardsOfDeck(i, cards))
		r.HotShareOfDeck += float64(slices.Max(l.Cards)) / float64(cardsOfDeck(i, cards)) / float64(len(r.Load))
	}
	for _, c := range g.chunks {
		r.Largest = max(r.Largest, len(c.cards))
		if c.stuck() {
			r.Unsplittable++
		}
	}
	r.Queries = g.queries()
	return r
}

// cardsOfDeck is how many cards a deck has: the last one of a workload may have fewer.
func cardsOfDeck(deck, cards int) int { return min(DeckSize, cards-deck*DeckSize) }

// Play plays a whole game.
func Play(o Options) Result { return New(o).Finish() }
