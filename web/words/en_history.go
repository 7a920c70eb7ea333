package words

// history are the sentences of placement history, time travel and activity.
var history = map[string]string{}
