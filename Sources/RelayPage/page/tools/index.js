// The table of tools, in the order of the dock. Tools of one group share a button, which is the one that was used last.
import * as pen from './pen.js'

/** @import {Tool} from '../types.js' */

const penIcon = 'M4 20l1.2-4.6L16.4 4.2a2 2 0 0 1 2.8 0l.6.6a2 2 0 0 1 0 2.8L8.6 18.8zM14 6.6l3.4 3.4'
const markerIcon = 'M9 14.5L17.6 4.8a1.6 1.6 0 0 1 2.3 0a1.6 1.6 0 0 1 0 2.3L10.8 16M9 14.5l1.8 1.5M9 14.5l-2.4 2.8L8 18.6l2.8-2.6M4 20.5h9'
const eraserIcon = 'M8.5 19.5l-4-4a1.8 1.8 0 0 1 0-2.5l8-8a1.8 1.8 0 0 1 2.5 0l4.5 4.5a1.8 1.8 0 0 1 0 2.5l-7.5 7.5zM9 8.5l7 7M8.5 19.5h11'

const shape = (key, label, icon) => ({group: 'shapes', key, label, needsDraw: true, hasStyle: true, load: () => import('./shape.js'), icon})

/** By name. @type {Record<string, Tool>} */
export const tools = {
  select: {group: 'select', key: 'v', label: 'tool.select', needsDraw: true, load: () => import('./select.js'),
    icon: 'M5.5 4l13 7.2-5.7 1.6-2.9 5.4z'},
  pen: {group: 'pens', key: 'p', label: 'tool.pen', needsDraw: true, hasStyle: true, load: async () => pen, icon: penIcon},
  marker: {group: 'pens', key: 'h', label: 'tool.marker', needsDraw: true, hasStyle: true, load: async () => pen, icon: markerIcon},
  laser: {group: 'pens', key: 'k', label: 'tool.laser', needsDraw: true, isHarmless: true, load: () => import('./laser.js'),
    icon: 'M4 20l8-8M15.5 8.5h.01M15.5 3v2M15.5 12v2M21 8.5h-2M12 8.5h-2M19.4 4.6L18 6M13 6l-1.4-1.4M19.4 12.4L18 11'},
  eraser: {group: 'erasers', key: 'e', label: 'tool.eraser', needsDraw: true, load: () => import('./eraser.js'), icon: eraserIcon},
  'area-eraser': {group: 'erasers', key: 'x', label: 'tool.areaEraser', needsDraw: true, load: () => import('./area-eraser.js'),
    icon: 'M2.5 17.5l5.2-3.3M16.3 9.8l5.2-3.3M12 7.5a4.5 4.5 0 0 1 0 9a4.5 4.5 0 0 1 0-9z'},
  line: shape('l', 'tool.line', 'M5 19L19 5'),
  arrow: shape('a', 'tool.arrow', 'M5 19L18.5 5.5M9.5 5.5h9v9'),
  rectangle: shape('r', 'tool.rectangle', 'M4.5 6h15v12h-15z'),
  ellipse: shape('o', 'tool.ellipse', 'M12 5.5a8 6.5 0 0 1 0 13a8 6.5 0 0 1 0-13z'),
  // A screen's keyboard comes only while the finger is being lifted: a text that a palm begins is empty, and goes.
  text: {group: 'text', key: 't', label: 'tool.text', needsDraw: true, hasStyle: true, isHarmless: true, load: () => import('./text.js'),
    icon: 'M5 7.5V5h14v2.5M12 5v14M9.5 19h5'},
  note: {group: 'text', key: 'n', label: 'tool.note', needsDraw: true, hasStyle: true, isHarmless: true, load: () => import('./text.js'),
    icon: 'M5 5h14v9l-5 5H5zM19 14h-5v5M8.5 9.5h7M8.5 13h3'},
  image: {group: 'images', key: 'b', label: 'tool.image', needsDraw: true, isAct: true, load: () => import('./image.js'),
    icon: 'M4 5h16v14H4zM4 16l4.5-4.5 4 4 3-3L20 17M15 9h.1'},
  camera: {group: 'images', key: 'c', label: 'tool.camera', needsDraw: true, isAct: true, load: () => import('./image.js'),
    icon: 'M4 8h4l1.5-2.5h5L16 8h4v11H4zM12 10a3.2 3.2 0 0 1 0 6.4a3.2 3.2 0 0 1 0-6.4'},
}

/** Names of tools by their keys. */
export const toolOfKey = Object.fromEntries(Object.entries(tools).map(([name, {key}]) => [key, name]))

const modules = {pen, marker: pen}
/** @returns {object|undefined} `undefined`: it has not come yet */
export const moduleOf = name => modules[name]
export const loadTool = async name => modules[name] ??= await tools[name].load()
export const loadTools = () => Promise.all(Object.keys(tools).map(loadTool))
