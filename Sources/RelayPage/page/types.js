// The types that the comments of other modules name: what a kind of record, and a tool, must have.

export {}

/**
 * Places and boxes (`[left, top, right, bottom]`) are in 1/100 px. An element is what the records of one id draw; an object is what a
 * record's payload says.
 *
 * @typedef {{
 *   read: (object: object) => object|undefined, // with `id` and `z`; `undefined`: it breaks a rule
 *   join?: (element: object|undefined, part: object) => object, // the element with one more record; without it the last record is it
 *   boxOf: (element: object) => number[],
 *   documentBoxOf?: (element: object) => number[], // in a document; else its box
 *   spanOf?: (element: object) => number[], // what it covers when it is drawn, where only the screen knows; else its box
 *   draw: (context: CanvasRenderingContext2D, element: object) => void,
 *   ready?: (element: object, zoom: number) => Promise<void>, // `draw` has all it needs then
 *   svg: (element: object, tools: {decimal, escaped, opacity, place}) => string[],
 *   touches: (element: object, x: number, y: number, slack: number) => boolean, // of a place that is within the box
 *   shift: (object: object, dx: number, dy: number) => void,
 *   resize: (object: object, scale: {x: (place: number) => number, y: (place: number) => number, factor: number}) => void,
 *   restyle?: (object: object, style: {width: number, size: number}) => void, // a line's width, a text's size
 *   hasNoColor?: boolean,
 * }} Kind
 */

/**
 * @typedef {{
 *   group: string, // its name is the word `group.…`
 *   key: string, // the letter that chooses it; docs/whiteboard.md lists them
 *   label: string, // a word
 *   icon: string, // the path of lines in a square of 24
 *   needsDraw: boolean, // whether it needs the right to draw
 *   hasStyle?: boolean, // whether it has colour and width: choosing one with another tool changes to the pen
 *   isHarmless?: boolean, // what a palm does with it may stay, so nothing is held back until it is known to be none
 *   isAct?: boolean, // its module has `act(hands, tool)`, and the tool before it stays
 *   load: () => Promise<{begin: (event: PointerEvent, hands: object, tool: string) => {move, end, cancel}}>,
 * }} Tool
 */
