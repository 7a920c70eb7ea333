package app

import "shardboard/web"

// Question is something that the API answers.
type Question = web.Question

// Questions are all of them, for the command line.
func Questions() []Question { return web.Questions() }
