// Frames as tests write and read them for the relay's side; where the client under test has not all of them, those of the whole one.
export {decodeFrame, encodeFrame, FrameReader} from '../../../Sources/RelayPage/relay-client.js'
