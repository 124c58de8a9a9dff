/** The floor: a pool of light with a metre grid that fades into the background, and the shadows on it. */
import { Color, Group, Mesh, PlaneGeometry, ShaderMaterial, ShadowMaterial } from 'three'
import { roundDown } from '../geometry/numbers'
import type { Palette } from '../theme'

const VERTEX = /* glsl */ `
varying vec2 place;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xy;
  gl_Position = projectionMatrix * viewMatrix * world;
}`

const FRAGMENT = /* glsl */ `
varying vec2 place;
uniform vec3 floorColor, pool, grid;
uniform vec2 centre;
uniform float reach, cell;

float lines(vec2 p, float size) {
  vec2 g = p / size;
  vec2 w = fwidth(g);
  vec2 d = abs(fract(g - 0.5) - 0.5) / max(w, 1e-5);
  float fine = 1.0 - clamp(max(w.x, w.y) * 2.0, 0.0, 1.0);
  return (1.0 - min(min(d.x, d.y), 1.0)) * fine;
}

void main() {
  float r = length(place - centre) / reach;
  vec3 colour = mix(pool, floorColor, smoothstep(0.0, 0.75, r));
  float line = max(0.35 * lines(place, cell), 0.8 * lines(place, 5.0 * cell));
  colour = mix(colour, grid, line * (1.0 - smoothstep(0.3, 0.95, r)));
  gl_FragColor = vec4(colour, 1.0 - smoothstep(0.3, 1.0, r));
  #include <colorspace_fragment>
  gl_FragColor.rgb *= gl_FragColor.a;
}`

export class Floor {
  readonly group = new Group()
  private readonly paint: ShaderMaterial
  private readonly shade = new ShadowMaterial({ opacity: 0.3 })

  constructor() {
    this.paint = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        floorColor: { value: new Color() },
        pool: { value: new Color() },
        grid: { value: new Color() },
        centre: { value: [0, 0] },
        reach: { value: 10 },
        cell: { value: 0.2 },
      },
      depthWrite: false, // drawn first, into nothing: so it blends by itself, and hides no figure that is below it
    })
    this.paint.toneMapped = false
    const plane = new PlaneGeometry(1, 1)
    const painted = new Mesh(plane, this.paint)
    painted.renderOrder = -2
    const shaded = new Mesh(plane, this.shade)
    shaded.receiveShadow = true
    shaded.renderOrder = -1
    shaded.position.z = 1e-4
    this.shade.depthWrite = false
    this.group.add(painted, shaded)
  }

  fit(height: number, centre: [number, number], size: number): void {
    const reach = Math.max(6 * size, 1)
    this.group.position.set(centre[0], centre[1], height)
    this.group.scale.set(2.2 * reach, 2.2 * reach, 1)
    this.paint.uniforms.centre.value = centre
    this.paint.uniforms.reach.value = reach
    this.paint.uniforms.cell.value = roundDown(size / 5)
  }

  dress(palette: Palette): void {
    const { uniforms } = this.paint
    uniforms.floorColor.value.set(palette.floor)
    uniforms.pool.value.set(palette.pool)
    uniforms.grid.value.set(palette.grid)
    this.shade.opacity = palette.shadow
  }
}
