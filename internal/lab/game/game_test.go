package game

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func options(t testing.TB, w Workload, key string, players, dealers int) Options {
	t.Helper()
	k, err := ParseKey(key, w)
	must.Do(t, err)
	return Options{Workload: w, Key: k, Players: players, Dealers: dealers, Seed: 1}
}

// turns deals cards and returns what came of them.
func turns(g *Game, n int) (out []Turn) {
	for range n {
		t, ok := g.Next()
		if !ok {
			break
		}
		out = append(out, t)
	}
	return out
}

func TestDecksComeInThePublishedOrder(t *testing.T) {
	w := Decks(2)
	for i, want := range map[int]string{0: "2♠", 8: "10♠", 12: "A♠", 13: "2♥", 26: "2♦", 39: "2♣", 51: "A♣", 52: "2♠"} {
		if c := w.Cards[i]; c.Text != want || c.Deck != i/52+1 {
			t.Errorf("card %d is %s of deck %d, want %s", i, c.Text, c.Deck, want)
		}
	}
	expect.Equal(t, len(w.Cards), 104, "cards")
}

func TestTheFirstPlayerBeginsWithOneChunkOfEverything(t *testing.T) {
	g := New(options(t, Decks(1), Scatter, 3, 1))
	hands := g.Hands()
	if len(hands) != 3 || len(hands[0].Chunks) != 1 || hands[0].Chunks[0].Range != "(-∞ … ∞)" ||
		len(hands[1].Chunks)+len(hands[2].Chunks) != 0 {
		t.Errorf("the game begins with %+v", hands)
	}
}

// The published rule: the fourth card fills a chunk, which becomes [x, y) and [y, z) with two cards each; who then has
// more chunks than another passes one on.
func TestTheFourthCardSplitsAChunkInTheMiddleAndOneHalfIsPassedOn(t *testing.T) {
	g := New(options(t, Decks(1), Ascending, 3, 1))
	all := turns(g, 4)
	for _, turn := range all[:3] {
		expect.That(t, turn.Split == nil && turn.Pass == nil && turn.Player == 1, "card %d: %+v", turn.Number, turn)
	}
	last := all[3]
	if last.Split == nil || *last.Split != (Split{At: "3", Lower: 2, Upper: 2}) || last.Held != Full {
		t.Fatalf("the fourth card: %+v", last)
	}
	if last.Pass == nil || *last.Pass != (Pass{From: 1, To: 2, Chunk: "(-∞ … 3)", Cards: 2}) {
		t.Errorf("passed on: %+v", last.Pass)
	}
	hands := g.Hands()
	if fmt.Sprint(hands[0].Chunks) != "[{[3 … ∞) [3 4] false}]" || fmt.Sprint(hands[1].Chunks) != "[{(-∞ … 3) [1 2] false}]" {
		t.Errorf("hands: %+v", hands)
	}
}

// With any key, workload and table: no card is lost, each is in the chunk of its range, each split has at least one
// card on either side, and chunks that can be split have fewer than four cards.
func TestEveryGameKeepsTheRules(t *testing.T) {
	keys := []string{"order", "hash(order)", "deck,hash(order)", "deck", "project", "project,doc", "hash(project)", "hash(doc)",
		"project,hash(doc)", "deck,project"}
	rapid.Check(t, func(rt *rapid.T) {
		w := Projects(rapid.IntRange(1, 4).Draw(rt, "decks"), rapid.IntRange(1, 30).Draw(rt, "projects"),
			rapid.Float64Range(0, 2).Draw(rt, "skew"), rapid.Uint64().Draw(rt, "seed"))
		o := options(t, w, rapid.SampledFrom(keys).Draw(rt, "key"), rapid.IntRange(1, 9).Draw(rt, "players"),
			rapid.IntRange(1, 9).Draw(rt, "dealers"))
		o.Joins = rapid.SampledFrom([][]int{nil, {0}, {20, 20, 60}, {1000}}).Draw(rt, "joins")
		g := New(o)
		for {
			chunks := len(g.chunks)
			turn, ok := g.Next()
			if !ok {
				break
			}
			if turn.Split != nil && (turn.Split.Lower < 1 || turn.Split.Upper < 1 || turn.Split.Lower+turn.Split.Upper != turn.Held) {
				rt.Fatalf("split of %d cards: %+v", turn.Held, turn.Split)
			}
			if made := len(g.chunks) - chunks; (made == 1) != (turn.Split != nil) || made > 1 || turn.Pass != nil && made != 1 {
				rt.Fatalf("card %d makes %d chunks: %+v", turn.Number, made, turn)
			}
			if full := turn.Held >= Full; turn.Stuck != (full && turn.Split == nil) || !full && turn.Split != nil {
				rt.Fatalf("a chunk is full and neither split nor stuck, or the other way round: %+v", turn)
			}
			if has := g.owned[turn.Player-1]; turn.Split != nil && turn.Pass == nil && slices.Min(g.owned) < has {
				rt.Fatalf("player %d keeps %d chunks, others have %v: %+v", turn.Player, has, g.owned, turn)
			}
		}
		checkChunks(rt, g)
	})
}

func checkChunks(t *rapid.T, g *Game) {
	cards, owned := 0, make([]int, len(g.owned))
	for i, c := range g.chunks {
		owned[c.player]++
		cards += len(c.cards)
		if i > 0 && g.chunks[i-1].max != c.min || i == 0 && c.min.key != "" || i == len(g.chunks)-1 && c.max.key != "" {
			t.Fatalf("chunk %d does not begin where the one before it ends", i)
		}
		if len(c.cards) >= Full && !c.stuck() {
			t.Fatalf("%s has %d cards that could be split", c.text(), len(c.cards))
		}
		for _, h := range c.cards {
			if h.key < c.min.key || c.max.key != "" && h.key >= c.max.key {
				t.Fatalf("%s has the card %s", c.text(), h.text)
			}
		}
	}
	if cards != len(g.arrive) || !slices.Equal(owned, g.owned) {
		t.Fatalf("%d of %d cards, players own %v, counted %v", cards, len(g.arrive), owned, g.owned)
	}
}

func TestTheSameOptionsMakeTheSameGame(t *testing.T) {
	for _, key := range Strategies() {
		a, b := Play(options(t, Decks(3), key, 5, 4)), Play(options(t, Decks(3), key, 5, 4))
		expect.That(t, reflect.DeepEqual(a, b), "%s: two games differ", key)
	}
	w := Projects(2, 9, 1, 7)
	if !reflect.DeepEqual(w, Projects(2, 9, 1, 7)) || reflect.DeepEqual(w, Projects(2, 9, 1, 8)) {
		t.Error("a workload does not follow from its seed")
	}
}

func TestAPlayerWhoJoinsGetsChunksUntilAllHaveAboutAsMany(t *testing.T) {
	o := options(t, Decks(8), Scatter, 3, 1)
	o.Joins = []int{208}
	g := New(o)
	before := turns(g, 208)
	if n := len(g.Hands()); n != 3 || before[207].Joined != 0 {
		t.Errorf("%d players before the fourth joins", n)
	}
	first, _ := g.Next()
	expect.That(t, first.Joined == 4 && len(g.Hands()) == 4, "the card after 208: %+v", first)
	r := g.Finish()
	last := r.Load[len(r.Load)-1]
	if low, high := slices.Min(last.Chunks), slices.Max(last.Chunks); r.Players != 4 || high > 2*low {
		t.Errorf("at the end the players have %v chunks", last.Chunks)
	}
	expect.That(t, last.Cards[3] >= DeckSize/8, "the new player took %d cards of the last deck", last.Cards[3])
}

func TestCardsWithOneKeyMakeAChunkThatNoSplitDivides(t *testing.T) {
	r := Play(options(t, Decks(3), "deck", 4, 1))
	if r.Unsplittable != 3 || r.Largest != DeckSize || r.Chunks != 3 {
		t.Errorf("coarse time alone: %d unsplittable of %d chunks, the largest has %d cards", r.Unsplittable, r.Chunks, r.Largest)
	}
	g := New(options(t, Decks(1), "deck", 2, 1))
	if all := turns(g, 5); all[2].Stuck || !all[3].Stuck || !all[4].Stuck || all[4].Held != 5 {
		t.Errorf("turns: %+v", all)
	}
	if r := Play(options(t, Decks(3), Scatter, 4, 1)); r.Unsplittable != 0 || r.Largest >= Full {
		t.Errorf("hashed: %d unsplittable, the largest has %d cards", r.Unsplittable, r.Largest)
	}
}

func TestQueriesAskOnePlayerIfTheyNameTheKey(t *testing.T) {
	for key, want := range map[string]map[string]string{
		Ascending: {"order": "one", "deck": "all", "suit": "all"},
		Scatter:   {"order": "one", "deck": "all"},
		Combo:     {"order": "all", "rank": "all", "deck and order": "one"},
		"suit":    {"suit": "one", "order": "all"},
	} {
		r := Play(options(t, Decks(4), key, 4, 1))
		for text, who := range want {
			i := slices.IndexFunc(r.Queries, func(q Query) bool { return q.Text == text })
			must.That(t, i >= 0, "%s: no query by %s", key, text)
			q := r.Queries[i]
			if who == "one" && (q.One != q.Asked || q.Mean != 1) || who == "all" && (q.All != q.Asked || q.One != 0) || q.Asked == 0 {
				t.Errorf("%s: a query by %s is not answered by %s: %+v", key, text, who, q)
			}
		}
	}
	r := Play(options(t, Decks(20), "deck,order", 4, 1))
	i := slices.IndexFunc(r.Queries, func(q Query) bool { return q.Text == "deck" })
	if q := r.Queries[i]; q.Asked != 20 || q.Mean <= 1 || q.Mean > 4 {
		t.Errorf("a deck of many chunks: %+v", q)
	}
}

// "Let George do it": every card goes to the player with the end of the range, who splits and passes on all the time,
// and the more dealers there are, the longer they wait for him.
func TestAscendingEndsWithGeorgeDoingEverything(t *testing.T) {
	for _, players := range []int{2, 4, 12} {
		waits := 0.0
		for _, dealers := range []int{1, 3, 8} {
			g := New(options(t, Decks(52), Ascending, players, dealers))
			turns(g, DeckSize)
			hands := g.Hands()
			george := slices.IndexFunc(hands, func(h Hand) bool {
				return slices.ContainsFunc(h.Chunks, func(c ChunkState) bool { return c.Range[len(c.Range)-len("∞)"):] == "∞)" })
			})
			r := g.Finish()
			if r.HotPlayer != george+1 || r.HotShare < 0.95 {
				t.Errorf("%d players: player %d took %.1f %% of the cards, and player %d has [x, ∞)", players, r.HotPlayer, 100*r.HotShare,
					george+1)
			}
			if perCard := float64(r.Passes) / float64(r.Cards); perCard < 0.2 {
				t.Errorf("%d players: %.2f chunks are passed on for a card", players, perCard)
			}
			wait := float64(r.RoundsNeeded) / float64(r.Rounds)
			expect.That(t, wait > waits, "%d dealers: %.1f rounds instead of one, with fewer dealers %.1f", dealers, wait, waits)
			waits = wait
		}
	}
}

// "More scatter, less gather": all take alike, but everybody searches among ever more chunks, and finished decks are
// touched all the time.
func TestScatterIsEvenAndSearchesEverMoreChunks(t *testing.T) {
	for _, players := range []int{4, 12} {
		r := Play(options(t, Decks(52), Scatter, players, 1))
		expect.That(t, r.HotShare <= 1.25/float64(players), "%d players: the busiest took %.1f %%", players, 100*r.HotShare)
		for quarter := 1; quarter < 4; quarter++ {
			if before, now := searched(r, quarter-1), searched(r, quarter); now < before+1 {
				t.Errorf("%d players: chunks searched %.1f, then %.1f", players, before, now)
			}
		}
		if r.FinishedTouched < r.Cards*8/10 {
			t.Errorf("%d players: %d of %d cards went to chunks of finished decks", players, r.FinishedTouched, r.Cards)
		}
	}
}

// searched is how many chunks were searched for a card in a quarter of the decks, from 0.
func searched(r Result, quarter int) (mean float64) {
	n := len(r.Load) / 4
	for _, l := range r.Load[quarter*n : (quarter+1)*n] {
		mean += l.Searched / float64(n)
	}
	return mean
}

// "Combo plate": even within a deck, and of the chunks that a finished deck leaves none is touched again but the one
// that ends at ∞, where the next deck begins.
func TestComboIsEvenWithinADeckAndLeavesFinishedDecksAlone(t *testing.T) {
	const players = 4
	o := options(t, Decks(52), Combo, players, 1)
	g := New(o)
	finished, touched := map[*chunk]int{}, 0
	for deck := 1; deck <= 52; deck++ {
		for range DeckSize {
			turn, _ := g.Next()
			for _, c := range g.chunks {
				if n, is := finished[c]; is && len(c.cards) > n {
					touched++
					finished[c] = len(c.cards)
					t.Errorf("card %d of deck %d went to %s of a finished deck", turn.Number, turn.Deck, c.text())
				}
			}
		}
		for _, c := range g.chunks {
			if c.max.key != "" {
				finished[c] = len(c.cards)
			}
		}
	}
	r := g.Finish()
	if r.HotShare > 1.25/players || len(finished) < 1000 || touched > 0 {
		t.Errorf("the busiest took %.1f %%, %d chunks were finished, %d touched again", 100*r.HotShare, len(finished), touched)
	}
	scatter := Play(options(t, Decks(52), Scatter, players, 1))
	george := Play(options(t, Decks(52), Ascending, players, 1))
	if within := r.HotShareOfDeck; within > 0.45 || within > scatter.HotShareOfDeck*1.4 || math.Abs(george.HotShareOfDeck-1) > 0.05 {
		t.Errorf("within a deck the busiest takes %.2f, with scatter %.2f, George %.2f", within, scatter.HotShareOfDeck, george.HotShareOfDeck)
	}
	if r.FinishedTouched > r.Cards/20 {
		t.Errorf("%d of %d cards came into chunks with cards of earlier decks only", r.FinishedTouched, r.Cards)
	}
}
