package api

// LabGame is a game of cards about a shard key (GET lab/game): how it ends with each published key and with the chosen
// one. Players, decks and cards are counted from 1; shares are from 0 to 1.
type LabGame struct {
	Inputs  LabGameInputs   `json:"inputs"`
	URL     Address         `json:"url"`    // page that shows the same game
	Fields  []string        `json:"fields"` // that a key can be made of
	Items   []LabGameResult `json:"items"`  // by key; the chosen one is last, unless it is a published one
	Load    []LabGameLoad   `json:"load"`   // with the chosen key, by deck and player
	Queries []LabGameQuery  `json:"queries"`
	Step    int             `json:"step"` // cards dealt in turn and hands
	Turn    *LabGameTurn    `json:"turn"` // the last of them; null before the first
	Hands   []LabGameHand   `json:"hands"`
}

// LabGameInputs are what a game follows from: the same inputs make the same game.
type LabGameInputs struct {
	Key      string  `json:"key"`
	Players  int     `json:"players"` // at the beginning
	Dealers  int     `json:"dealers"`
	Workload string  `json:"workload"` // cards, projects or csv
	Decks    int     `json:"decks"`    // of 52 cards; of csv as many as its rows make
	Projects int     `json:"projects"` // of the workload projects
	Skew     float64 `json:"skew"`     // likewise; 0: all projects alike
	CSV      string  `json:"csv,omitempty"`
	Joins    []int   `json:"joins"` // a player joins after so many cards
	Seed     uint64  `json:"seed"`
}

// LabGameResult is how a game ended with one key.
type LabGameResult struct {
	Key     string `json:"key"`
	Chosen  bool   `json:"chosen"`
	Text    string `json:"text"` // what it shows, in a sentence
	Players int    `json:"players"`
	Cards   int    `json:"cards"`
	Chunks  int    `json:"chunks"`
	Splits  int    `json:"splits"`
	Passes  int    `json:"passes"`

	PassesPerCard float64 `json:"passesPerCard"`
	HotPlayer     int     `json:"hotPlayer"` // who took most cards
	HotShare      float64 `json:"hotShare"`
	DeckHotShare  float64 `json:"deckHotShare"` // of the busiest player of each deck, on average
	Rounds        int     `json:"rounds"`       // in each of which every dealer deals one card
	RoundsNeeded  int     `json:"roundsNeeded"` // if a player can take one card in a round
	SearchedFirst float64 `json:"searchedFirst"`
	SearchedLast  float64 `json:"searchedLast"` // chunks that a player has when a card comes: in the last deck
	// FinishedShare is the part of the cards after the first deck that come into a chunk with cards of earlier decks
	// only; null if there is one deck.
	FinishedShare *float64 `json:"finishedShare"`
	Unsplittable  int      `json:"unsplittable"` // chunks that are full and have one key
	Largest       int      `json:"largest"`      // cards in the largest chunk
}

// LabGameLoad is what one player had to do in one deck.
type LabGameLoad struct {
	Deck   int `json:"deck"`
	Player int `json:"player"`
	Cards  int `json:"cards"`  // taken
	Chunks int `json:"chunks"` // at its end
}

// LabGameQuery is a form of query: who answers it at the end of the game.
type LabGameQuery struct {
	Fields string  `json:"fields"` // that the query names
	Asked  int     `json:"asked"`  // different values
	One    int     `json:"one"`    // of them answered by one player
	All    int     `json:"all"`    // of them answered by every player
	Mean   float64 `json:"mean"`   // players that answer one
}

// LabGameTurn is one card and what came of it. Position is the place of the chunk in the order of the ranges, from 0; a
// split makes a chunk behind it.
type LabGameTurn struct {
	Number   int           `json:"number"`
	Text     string        `json:"text"` // in sentences
	Round    int           `json:"round"`
	Dealer   int           `json:"dealer"`
	Deck     int           `json:"deck"`
	Card     string        `json:"card"`
	Key      string        `json:"key"`
	Player   int           `json:"player"` // who took it
	Position int           `json:"position"`
	Chunk    string        `json:"chunk"`
	Held     int           `json:"held"`     // cards in the chunk, before a split
	Searched int           `json:"searched"` // chunks of the player
	Stuck    bool          `json:"stuck"`    // full, and all cards have one key
	Joined   int           `json:"joined"`   // the last player who joined before the card; 0: nobody
	Split    *LabGameSplit `json:"split"`    // null if it was not split
	Pass     *LabGamePass  `json:"pass"`     // null if no chunk was passed on
}

// LabGameSplit is a chunk that became two.
type LabGameSplit struct {
	At    string `json:"at"`
	Lower int    `json:"lower"` // cards
	Upper int    `json:"upper"`
}

// LabGamePass is a chunk that another player got: one half of the one that was split.
type LabGamePass struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Upper bool   `json:"upper"` // which half
	Chunk string `json:"chunk"`
	Cards int    `json:"cards"`
}

// LabGameHand is what a player has.
type LabGameHand struct {
	Player int            `json:"player"`
	Cards  int            `json:"cards"`
	Chunks []LabGameChunk `json:"chunks"`
}

// LabGameChunk is a chunk in a hand.
type LabGameChunk struct {
	Range string `json:"range"`
	Cards int    `json:"cards"`
	Stuck bool   `json:"stuck"`
}

// LabGameTurns are turns of a game (GET lab/game/turns).
type LabGameTurns struct {
	Items []LabGameTurn `json:"items"`
	Next  Cursor        `json:"next"` // null after the last page
}
