// English: what a proposed name is made of, in the order in which its two words stand.
export const words = {
  first: 'Amber Brisk Calm Clear Coral Early Fair Gentle Golden Green Happy Indigo Jolly Keen Kind Lively Merry Mild Neat Olive '
    + 'Proud Quick Quiet Rosy Ruby Silver Sunny Swift Warm Wise',
  second: 'Badger Crane Deer Dove Eagle Falcon Finch Fox Gecko Hare Hawk Heron Ibis Jay Koala Lark Lynx Newt Orca Otter Owl Panda '
    + 'Parrot Pony Puffin Raven Robin Seal Sparrow Swan Tiger Whale',
}
