// The page's words in English, for tests that read what it says.
import {restOfWords, speak} from '../../../Sources/RelayPage/page/words/index.js'

await speak('en')
await restOfWords()
